import { OrionError } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import type { Verdict } from './plan-changes.ts';
import { isRefused, planOn, resultOf } from './testing/memory-files.ts';
import { Pace } from './pace.ts';

/** Hazard: a small plan that keeps a machine busy for minutes, fills its memory or its disk (B4). */

const MIB = 1024 * 1024;
const replaceAll = (find: string, content: string): object => ({
  type: 'replace_all',
  find,
  content,
});
const plan = (operations: readonly object[]): object => ({
  intent: 'a test',
  target_file: 'a.txt',
  operations,
});

/** Of this thread's work: the machine may be busy with others. */
function secondsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1_000_000;
}

async function codesOf(file: string, operations: readonly object[]): Promise<readonly string[]> {
  const { verdicts } = await planOn({ 'a.txt': file }, plan(operations), 64 * 1024);
  return verdicts.map((verdict) =>
    verdict.kind === 'refused' ? verdict.error.code : verdict.kind,
  );
}

describe('B4: what a plan makes of a file is bounded before it is made', () => {
  it('six times a → 1,000 a', async () => {
    const grow = replaceAll('a', 'a'.repeat(1000));
    const began = process.threadCpuUsage();
    expect(
      await codesOf(
        'a\n',
        Array.from({ length: 6 }, () => grow),
      ),
    ).toEqual(['planned', 'planned', 'planned', 'CONTENT_TOO_LARGE', 'unjudged', 'unjudged']);
    expect(secondsSince(began)).toBeLessThan(5);
  }, 60_000);

  it.each([
    ['create', { type: 'create', content: '12345678' }, 'b.txt'],
    ['overwrite', { type: 'overwrite', content: '12345678' }, 'a.txt'],
    ['append', { type: 'append', content: '123' }, 'a.txt'],
    ['insert', { type: 'insert', content: '12\n', marker: 'm', position: 'before' }, 'a.txt'],
    ['replace', { type: 'replace', content: '12\n', start_marker: 'm', end_marker: 'n' }, 'a.txt'],
    ['replace_all', replaceAll('m', 'mmmm'), 'a.txt'],
  ])('%s', async (_name, operation, target_file) => {
    const made = { 'a.txt': 'm\nn\n\n' };
    const run = (max: number) => planOn(made, plan([{ ...operation, target_file }]), 7, max);
    const planned = await run(8);
    expect(planned.verdicts.map(({ kind }) => kind)).toEqual(['planned']);
    expect(planned.changes[0]?.state.image.bytes).toBe(8);
    const [refused] = (await run(7)).verdicts;
    expect(refused).toMatchObject({
      kind: 'refused',
      error: {
        code: 'CONTENT_TOO_LARGE',
        message: `\`${target_file}\` would have more than 7 bytes.`,
        details: { max_bytes: 7 },
      },
    });
  });

  it(
    'of one and a half million places in all no more are replaced',
    { timeout: 60_000, tags: ['long'] },
    async () => {
      const twice = [replaceAll('a', 'b'), replaceAll('b', 'c')];
      expect(await codesOf('a'.repeat(750_001), twice)).toEqual(['planned', 'INVALID_OPERATION']);
    },
  );
});

describe('B4: the cost of many operations on one file', () => {
  const OPERATIONS = 5_000;

  it.each<[string, (index: number) => object]>([
    ['append', (index) => ({ type: 'append', content: `line ${index}\n` })],
    [
      'insert',
      (index) => ({
        type: 'insert',
        content: `line ${index}\n`,
        marker: 'end mark',
        position: 'before',
      }),
    ],
    [
      'insert first',
      (index) => ({
        type: 'insert',
        content: `line ${index}\n`,
        marker: 'start mark',
        position: 'after',
      }),
    ],
    ['replace_all', (index) => replaceAll(`mark ${index} `, `mark ${index + 1} `)],
    [
      'replace',
      (index) => ({
        type: 'replace',
        content: `${index}\n`,
        start_marker: 'start mark',
        end_marker: 'end mark',
      }),
    ],
  ])(
    '5,000 times %s',
    async (_name, operation) => {
      const began = process.threadCpuUsage();
      const operations = Array.from({ length: OPERATIONS }, (_, index) => operation(index));
      const planned = await planOn(
        { 'a.txt': 'start mark\nmark 0 \nend mark\n' },
        plan(operations),
        64 * 1024,
      );
      expect(isRefused(planned)).toBe(false);
      expect((await resultOf(planned)).length).toBeGreaterThan(0);
      expect(secondsSince(began)).toBeLessThan(4);
      // Each would hold a list of everything before it: together the square of their number.
      expect(planned.verdicts.flatMap(holdsState)).toEqual([]);
    },
    60_000,
  );
});

function holdsState(verdict: Verdict): readonly string[] {
  const told = verdict.kind === 'planned' ? Object.keys(verdict.edit) : [];
  return told.filter((key) => key === 'state');
}

describe('a plan that was called off', () => {
  it('is left in the middle of its work', async () => {
    const stop = new AbortController();
    let turns = 0;
    const pace = new Pace(stop.signal, () => {
      turns += 1;
      if (turns === 3) stop.abort();
      return Promise.resolve();
    });
    const work = async (): Promise<void> => {
      for (;;) await pace.work(MIB);
    };
    await expect(work()).rejects.toMatchObject({ code: 'ABORTED' });
    expect(turns).toBe(3);
  });

  it('also where one long text of many chunks is read', async () => {
    const stop = new AbortController();
    const pace = new Pace(stop.signal, () => Promise.resolve(stop.abort()));
    const endless = pace.of(async function* () {
      for (;;) yield Uint8Array.of(1);
    });
    const error: unknown = await (async () => {
      for await (const _chunk of endless());
    })().catch((thrown: unknown) => thrown);
    expect(OrionError.isInstance(error) && error.code).toBe('ABORTED');
  });
});
