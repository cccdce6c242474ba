/**
 * Plans and begins with one field after the other left out, or of each wrong kind, and what is read of them. With `-u`
 * the files are written anew.
 */
import { BEGIN_TOOL_NAME, OrionError } from '@orion/contracts';
import type { JsonObject } from '@orion/contracts';
import { expect, it } from 'vitest';

import { begunSignature, readBeginRequest } from './begin-request.ts';
import { MAX_PLAN_OPERATIONS, parsePlan } from './parse-plan.ts';

type Fields = Readonly<Record<string, unknown>>;

const VALUES: readonly unknown[] = [null, '', ' ', 'x', 5, 0, 1.5, true, false, [], {}, 'a\ud800'];
const INSERT = { marker: 'm', marker_type: 'string', position: 'before' };
const REPLACE = { start_marker: 's', end_marker: 'e', marker_type: 'regex', include_markers: true };
const OPERATIONS: readonly Fields[] = [
  { type: 'create', content: 'c' },
  { type: 'overwrite', target_file: 'b.txt', content_block: 'c' },
  { type: 'append', content: '', start_on_new_line: true },
  { type: 'insert', content: 'c', ...INSERT },
  { type: 'insert', content: 'c', location_marker: 'm', position: 'after' },
  { type: 'insert', content: 'c', location: INSERT },
  { type: 'replace', content: 'c', ...REPLACE },
  { type: 'replace', content: 'c', location: REPLACE },
  { type: 'replace_all', content: 'c', find: 'f', expected_count: 2 },
];

/** An object, then without one key after the other, and with every other value of each. */
function* variants(fields: Fields): Generator<readonly [change: string, fields: Fields]> {
  yield ['', fields];
  for (const key of Object.keys(fields)) {
    const { [key]: own, ...others } = fields;
    yield [`without ${key}`, others];
    for (const value of VALUES) yield [`${key} ${lineOf(value)}`, { ...fields, [key]: value }];
    if (typeof own !== 'object' || own === null) continue;
    for (const [change, inner] of variants(own as Fields)) {
      if (change !== '') yield [`${key}: ${change}`, { ...fields, [key]: inner }];
    }
  }
}

/** Each result once, with all that leads to it. */
function grouped(rows: readonly (readonly [change: string, result: string])[]): readonly string[] {
  return [...Map.groupBy(rows, ([, result]) => result)].map(
    ([result, changes]) =>
      `${changes.map(([change]) => change || 'as it is').join(', ')}\n  ${result}`,
  );
}

const lineOf = (value: unknown): string => JSON.stringify(value) ?? 'undefined';

function refusalOf(error: unknown): string {
  if (!OrionError.isInstance(error)) throw error;
  const { code, message, hint } = error;
  return `${code} ${message} (${hint ?? ''})`;
}

function read(operation: unknown, plan: Fields = {}): string {
  try {
    const parsed = parsePlan({
      intent: 'i',
      target_file: 'a.txt',
      operations: [operation],
      ...plan,
    });
    const told = parsed.operations.map((each) =>
      each.kind === 'operation'
        ? lineOf(each.operation)
        : `${lineOf([each.type, each.target_file])} ${refusalOf(each.error)}`,
    );
    return [...told, ...parsed.warnings].join(' | ');
  } catch (error) {
    return refusalOf(error);
  }
}

it('an operation', async () => {
  const lines = OPERATIONS.flatMap((operation) => [
    `== ${lineOf(operation)}`,
    ...grouped([...variants(operation)].map(([change, fields]) => [change, read(fields)])),
  ]);
  lines.push('== none', ...grouped(VALUES.map((value) => [lineOf(value), read(value)])));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('__snapshots__/operations.txt');
});

it.each([
  [{ type: 'create', content: 'c', content_block: 'c' }, '"text":"c"'],
  [{ type: 'create', content: 'c', content_block: 'd' }, 'content and content_block differ'],
  [{ type: 'create', content: 'c', marker: 'm' }, '"marker" in operation 0 is not known'],
  [{ type: 'create', content: 'c', ['k'.repeat(81)]: 1 }, `"${'k'.repeat(80)}" in operation 0`],
  [{ ...OPERATIONS[8], find: 'f'.repeat(16_384) }, '"type":"replace_all"'],
  [{ ...OPERATIONS[8], find: 'f'.repeat(16_385) }, 'find has more than 16384 characters.'],
  [{ ...OPERATIONS[6], end_marker: 'f'.repeat(1_000) }, '"type":"replace"'],
  [{ ...OPERATIONS[6], end_marker: 'f'.repeat(1_001) }, 'end_marker has more than 1000'],
  [{ ...OPERATIONS[3], marker: 'f'.repeat(16_385) }, 'location_marker has more than 16384'],
])('%j', (operation, part) => {
  expect(read(operation)).toContain(part);
});

it('a plan', async () => {
  const plan = {
    intent: 'i',
    target_file: 'a.txt',
    operations: [{ type: 'create', content: 'c' }],
    safety_checks: { backup_required: true, must_exist: true },
    dry_run: true,
    atomic: false,
    eol: 'as-is',
    more: 1,
  };
  const told = (fields: Fields): string => {
    try {
      const { plan: own, dry_run, operations, warnings } = parsePlan(fields);
      return lineOf([own, dry_run, operations.map(({ kind }) => kind), warnings]);
    } catch (error) {
      return refusalOf(error);
    }
  };
  const lines = grouped([...variants(plan)].map(([change, fields]) => [change, told(fields)]));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('__snapshots__/plans.txt');
  const many = (count: number): unknown =>
    parsePlan({ intent: 'i', operations: Array.from({ length: count }, () => null) });
  expect(() => many(MAX_PLAN_OPERATIONS)).not.toThrow();
  expect(() => many(MAX_PLAN_OPERATIONS + 1)).toThrow('A plan has at most 10000 operations.');
});

it('a begin', async () => {
  const base = {
    intent: 'i',
    target_file: 'a.txt',
    final_newline: false,
    start_on_new_line: true,
    keep_leading_blank_lines: true,
  };
  const requests: readonly Fields[] = [
    { ...base, operation: 'create' },
    { ...base, operation: 'append' },
    { ...base, operation: 'insert', location: INSERT },
    { ...base, operation: 'replace', location: REPLACE },
    { ...base, operation: 'create', location: INSERT },
  ];
  const told = (run: () => unknown): string => {
    try {
      return lineOf(run());
    } catch (error) {
      return refusalOf(error);
    }
  };
  const lines = requests.flatMap((request) => [
    `== ${lineOf(request)}`,
    ...grouped(
      [...variants(request)].map(([change, fields]) => {
        const args = fields as JsonObject;
        return [
          change,
          `${told(() => readBeginRequest(args))}\n  ${told(() => begunSignature(args))}`,
        ];
      }),
    ),
  ]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('__snapshots__/begins.txt');
});

it.each(['content', 'raw_content', 'content_block', 'text', 'file_content', 'body', 'data'])(
  'a begin has no %s',
  (key) => {
    const args = { intent: 'i', target_file: 'a.txt', operation: 'create', [key]: '' };
    expect(() => readBeginRequest(args)).toThrow(
      `Leave out "${key}": call ${BEGIN_TOOL_NAME} with intent, target_file and operation only, then write the content as your next message, as the result of the call says.`,
    );
  },
);
