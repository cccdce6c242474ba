import { OrionError } from '@orion/contracts';
import { expect, it } from 'vitest';

import { inChunks, inProcess, isRefused, snapshotOf } from './testing/memory-files.ts';
import { Pace } from './pace.ts';
import { parsePlan } from './parse-plan.ts';
import { planChanges } from './plan-changes.ts';
import type { PlannedChanges } from './plan-changes.ts';

/** Hazard: a plan of many operations that looks at its files again and again, or holds all of them (J1, M1). */

const MIB = 1024 * 1024;

/** What planning asks of the workspace, in order; every other name of a file is a link to it. */
async function planned(
  files: Readonly<Record<string, Buffer>>,
  operations: readonly object[],
): Promise<{ readonly plan: PlannedChanges; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const parsed = parsePlan({ intent: 'a test', operations });
  for (const each of parsed.operations) if (each.kind === 'invalid') throw each.error;
  const plan = await planChanges(parsed.plan, parsed.operations, {
    workspace: {
      maxTargetBytes: 64 * MIB,
      checkTarget: async (target, operation) => {
        asked.push(`${operation} ${target}`);
        if (target.startsWith('..'))
          throw new OrionError({ code: 'INVALID_TARGET', message: 'No.' });
        const path = target.replace('link-to-', '');
        return snapshotOf(path, files[path] ?? null);
      },
      readTarget: ({ path }) => {
        asked.push(`read ${path}`);
        return inChunks(files[path] ?? Buffer.alloc(0), MIB);
      },
    },
    patterns: inProcess,
    pace: new Pace(null, () => Promise.resolve()),
  });
  return { plan, asked };
}

const swap = (target_file: string, find: string, content: string): object => ({
  type: 'replace_all',
  target_file,
  find,
  content,
});

it('looks once at each name, and reads a file for its first two operations only', async () => {
  const { plan, asked } = await planned(
    { 'a.txt': Buffer.from('one\n'), 'b.txt': Buffer.from('') },
    [
      swap('a.txt', 'one', 'two'),
      { type: 'append', target_file: 'b.txt', content: 'b\n' },
      swap('a.txt', 'two', 'six'),
      swap('link-to-a.txt', 'six', 'ten'),
      { type: 'append', target_file: 'a.txt', content: 'end\n' },
      swap('link-to-a.txt', 'ten', 'one'),
      { type: 'append', target_file: 'b.txt', content: 'c\n' },
    ],
  );
  expect(asked).toEqual([
    'overwrite a.txt',
    'read a.txt',
    'overwrite b.txt',
    'read a.txt',
    'overwrite link-to-a.txt',
  ]);
  expect(plan.changes.map(({ operations }) => operations)).toEqual([
    [0, 2, 3, 4, 5],
    [1, 6],
  ]);
  expect(plan.changes.map(({ state }) => state.held)).toEqual([null, null]);
});

it('holds four of the largest files that are held at all, and begins anew with the fifth', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.txt`);
  const files = Object.fromEntries(
    names.map((name) => [name, Buffer.alloc(8 * MIB, 0x2e).fill('one', 0, 3)]),
  );
  const twice = (name: string): object[] => [swap(name, 'one', 'two'), swap(name, 'two', 'six')];
  const { plan, asked } = await planned(files, [
    ...names.slice(0, 4).flatMap(twice),
    swap('a.txt', 'six', 'ten'),
    ...twice('e.txt'),
    swap('a.txt', 'ten', 'one'),
    swap('e.txt', 'six', 'ten'),
  ]);
  expect(isRefused(plan)).toBe(false);
  expect(asked.filter((each) => each.startsWith('read')).join(', ')).toBe(
    'read a.txt, read a.txt, read b.txt, read b.txt, read c.txt, read c.txt, read d.txt, read d.txt, read e.txt, read e.txt, read a.txt',
  );
});

it.each([
  ['insert', { content: 'x', marker: 'mark', position: 'before' }],
  ['replace', { content: 'x\n', start_marker: 'mark', end_marker: 'end' }],
  ['replace_all', { content: 'mark', find: 'mark' }],
])('reads a file once more for a second %s, and for no third', async (type, facts) => {
  const operation = { type, target_file: 'a.txt', ...facts };
  const reads = async (times: number): Promise<number> => {
    const operations = Array.from({ length: times }, () => operation);
    const { asked } = await planned({ 'a.txt': Buffer.from('mark\none\nend\n') }, operations);
    return asked.filter((each) => each.startsWith('read')).length;
  };
  expect(await reads(3)).toBe(await reads(2));
});

it('never holds a larger one', async () => {
  const { asked } = await planned({ 'a.txt': Buffer.alloc(8 * MIB + 1, 0x2e).fill('one', 0, 3) }, [
    swap('a.txt', 'one', 'two'),
    swap('a.txt', 'two', 'six'),
    swap('a.txt', 'six', 'ten'),
  ]);
  expect(asked.filter((each) => each.startsWith('read'))).toHaveLength(3);
});

const OPERATIONS: Readonly<Record<string, object>> = {
  create: { type: 'create', content: 'one\n' },
  overwrite: { type: 'overwrite', content: 'one\n' },
  append: { type: 'append', content: 'one\n' },
  insert: { type: 'insert', content: 'one\n', marker: 'one', position: 'before' },
  replace: { type: 'replace', content: 'new\n', start_marker: 'one', end_marker: 'end' },
  replace_all: { type: 'replace_all', find: 'one', content: 'one' },
};

it.each([
  ['missing', ['create'], 'create'],
  ['missing', ['create', 'append'], 'create'],
  ['missing', ['overwrite', 'append'], 'overwrite'],
  ['there', ['overwrite', 'append'], 'overwrite'],
  ['there', ['append', 'overwrite'], 'overwrite'],
  ['there', ['append', 'append'], 'append'],
  ['there', ['insert'], 'insert'],
  ['there', ['insert', 'append'], 'replace'],
  ['there', ['replace', 'replace'], 'replace'],
  ['there', ['replace_all', 'replace_all'], 'replace'],
] as const)('a file that is %s, and %j of it: one %s', async (file, types, operation) => {
  const { plan } = await planned(
    file === 'there' ? { 'a.txt': Buffer.from('one\ntwo\nend\n') } : {},
    types.map((type) => ({ ...OPERATIONS[type], target_file: 'a.txt' })),
  );
  expect(plan.changes.map((change) => change.operation)).toEqual([operation]);
});

it.each([
  ['missing', 'create', 'planned'],
  ['missing', 'overwrite', 'planned'],
  ['missing', 'append', 'FILE_NOT_FOUND There is no file `a.txt`.'],
  ['missing', 'insert', 'FILE_NOT_FOUND There is no file `a.txt`.'],
  ['there', 'create', 'FILE_EXISTS `a.txt` exists already.'],
  ['there', 'overwrite', 'planned'],
  ['there', 'append', 'planned'],
] as const)('a file that is %s: %s is %s', async (file, type, expected) => {
  const { plan } = await planned(
    file === 'there' ? { 'a.txt': Buffer.from('one\ntwo\nend\n') } : {},
    [
      { ...OPERATIONS[type], target_file: 'a.txt' },
      { ...OPERATIONS['append'], target_file: 'b.txt' },
      { ...OPERATIONS['append'], target_file: 'a.txt' },
    ],
  );
  const said = plan.verdicts.map((verdict) =>
    verdict.kind === 'refused' ? `${verdict.error.code} ${verdict.error.message}` : verdict.kind,
  );
  expect(said).toEqual([
    expected,
    'FILE_NOT_FOUND There is no file `b.txt`.',
    expected === 'planned' ? 'planned' : 'unjudged',
  ]);
  expect(plan.verdicts.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'a.txt']);
  expect(isRefused(plan)).toBe(true);
  const [first] = plan.verdicts;
  if (first?.kind === 'planned')
    expect(first.edit.warnings).toEqual(
      file === 'missing' && type === 'overwrite' ? ['created_missing'] : [],
    );
});

it('calls a target that may not be looked at as the plan does, and judges the others', async () => {
  const { plan } = await planned({ 'a.txt': Buffer.from('one\n') }, [
    { ...OPERATIONS['append'], target_file: '../b.txt' },
    { ...OPERATIONS['append'], target_file: 'link-to-a.txt' },
  ]);
  expect(plan.verdicts).toMatchObject([
    { kind: 'refused', path: '../b.txt', error: { code: 'INVALID_TARGET' } },
    { kind: 'planned', path: 'a.txt' },
  ]);
});
