import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { runInGroup } from './process-group.ts';
import type { GroupEnd, GroupRequest } from './process-group.ts';
import { processesMarked } from './processes.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orion-process-group-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(line: string, options: Partial<GroupRequest> = {}): Promise<GroupEnd> {
  return runInGroup({
    command: ['/bin/sh', '-c', line],
    cwd: folder,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    id: randomUUID(),
    timeoutMs: 60_000,
    maxOutputBytes: 1024 * 1024,
    signal: new AbortController().signal,
    clock: systemClock,
    ...options,
  });
}

/** The number that a command has written to `pid`, once it is there. */
async function writtenPid(): Promise<number> {
  for (;;) {
    try {
      const text = readFileSync(join(folder, 'pid'), 'utf8');
      if (text.endsWith('\n')) return Number(text);
    } catch {
      // Not yet.
    }
    await new Promise((settle) => setTimeout(settle, 5));
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

it('reports the exit code and both outputs in their order', async () => {
  const end = await run('echo a; echo b >&2; echo c; exit 3');
  expect(end).toMatchObject({ reason: 'exited', exitCode: 3, signal: null, ended: [] });
  expect(end.output).toEqual({ head: 'a\nb\nc\n', tail: '', bytes: 6, omittedBytes: 0 });
});

it('reports the signal that ended it', async () => {
  expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
});

it('measures how long it took, whatever the time was before', async () => {
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 1e9 };
  const { durationMs } = await run('sleep 0.05', { clock });
  expect(durationMs).toBeGreaterThanOrEqual(50);
  expect(durationMs).toBeLessThan(60_000);
});

it('gives it an empty standard input', async () => {
  expect((await run('cat; echo end')).output.head).toBe('end\n');
});

it('gives it its environment and no other', async () => {
  process.env['ORION_TEST_CANARY'] = 'canary';
  try {
    const { output } = await run('env', {
      environment: { PATH: '/usr/bin:/bin', A: 'b' },
      id: 'x',
    });
    const names = output.head.split('\n').map((line) => line.split('=')[0]);
    expect(
      names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', ''].includes(name ?? '')),
    ).toEqual(expect.arrayContaining(['PATH', 'A', 'ORION_COMMAND']));
    expect(output.head).not.toContain('canary');
  } finally {
    delete process.env['ORION_TEST_CANARY'];
  }
});

it('rejects for a folder that is not there', async () => {
  await expect(run('true', { cwd: join(folder, 'none') })).rejects.toThrow(/ENOENT/);
});

it('hands each piece of the output on as it comes', async () => {
  const pieces: string[] = [];
  const started = Promise.withResolvers<void>();
  const running = run('echo first; cat fifo > /dev/null 2>&1 || sleep 0.2; echo last', {
    onOutput(chunk) {
      pieces.push(Buffer.from(chunk).toString());
      started.resolve();
    },
  });
  await started.promise;
  expect(pieces).toEqual(['first\n']);
  await running;
  expect(pieces.join('')).toMatch(/^first\n(?:.*\n)?last\n$/);
});

describe('ends', () => {
  it('a command at its time limit', async () => {
    const end = await run('echo $$ > pid; sleep 60', { timeoutMs: 300 });
    expect(end).toMatchObject({ reason: 'timeout', exitCode: null, signal: 'SIGTERM' });
    expect(isAlive(await writtenPid())).toBe(false);
  });

  it('a command whose turn ends', async () => {
    const turn = new AbortController();
    const running = run('sleep 60 & echo $! > pid; wait', { signal: turn.signal });
    const pid = await writtenPid();
    turn.abort();
    expect(await running).toMatchObject({ reason: 'aborted' });
    expect(isAlive(pid)).toBe(false);
  });

  it('a command and what it has started alike, first by asking', async () => {
    const asked = `trap 'echo asked > asked; exit' TERM; echo $$ > pid; while :; do sleep 0.02; done`;
    const turn = new AbortController();
    const running = run(`sh -c "$ASKED" & wait`, {
      environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ASKED: asked },
      signal: turn.signal,
    });
    await writtenPid();
    turn.abort();
    await running;
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('asked\n');
  });

  it.skipIf(process.platform !== 'linux')(
    'its hold on an output that a process out of reach still has open',
    async () => {
      const pipes = (): number =>
        process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
      const before = pipes();
      const end = await run(`env -i setsid sh -c 'echo $$ > pid; exec sleep 60' & echo end`);
      const pid = await writtenPid();
      try {
        expect(end.output.head).toBe('end\n');
        expect(isAlive(pid)).toBe(true);
        await expect.poll(pipes).toBe(before);
      } finally {
        process.kill(pid, 'SIGKILL');
      }
    },
  );

  it('a command whose turn has ended before it began', async () => {
    expect(await run('echo > ran; sleep 60', { signal: AbortSignal.abort() })).toMatchObject({
      reason: 'aborted',
      output: { bytes: 0 },
      ended: [],
    });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it.skipIf(process.platform !== 'linux')(
    'what a sandbox starts only after the request, by asking',
    async () => {
      const turn = new AbortController();
      const line = 'echo $$ > pid; sleep 0.3; sleep 60 & wait $!; echo $?';
      const running = run(line, { isSandbox: true, signal: turn.signal });
      await writtenPid();
      turn.abort();
      expect((await running).output.head).toMatch(/^143\n/mu);
    },
  );

  it('one that ignores the request, two seconds later', { tags: ['long'] }, async () => {
    const line = `trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done`;
    const turn = new AbortController();
    const running = run(line, { signal: turn.signal });
    const pid = await writtenPid();
    turn.abort();
    const end = await running;
    expect(end).toMatchObject({ reason: 'aborted', signal: 'SIGKILL' });
    expect(end.durationMs).toBeGreaterThanOrEqual(2_000);
    expect(isAlive(pid)).toBe(false);
  });

  it('one that prints without an end', async () => {
    const end = await run('yes', { timeoutMs: 300, maxOutputBytes: 4_096 });
    expect(end.reason).toBe('timeout');
    expect(end.output.head.length + end.output.tail.length).toBe(4_096);
    expect(end.output.omittedBytes).toBe(end.output.bytes - 4_096);
  });

  it.each([
    ['that holds the output open', 'sleep 60 & echo $! > pid; echo end'],
    ['that does not', 'sleep 60 > /dev/null 2>&1 & echo $! > pid; echo end'],
  ])('a background process %s, and names it', async (_, line) => {
    const end = await run(line);
    expect(end).toMatchObject({ reason: 'exited', exitCode: 0 });
    expect(end.output.head).toBe('end\n');
    const pid = await writtenPid();
    expect(isAlive(pid)).toBe(false);
    if (process.platform === 'linux') expect(end.ended).toEqual([{ pid, name: 'sleep' }]);
  });

  it.skipIf(process.platform !== 'linux')(
    'a background process called like the command, and names it unless that is a sandbox',
    async () => {
      const line = `sh -c 'echo $$ > pid; while :; do sleep 60; done' & until [ -s pid ]; do sleep 0.02; done`;
      const named = (await run(line)).ended.map(({ name }) => name);
      expect(named).toContain('sh');
      rmSync(join(folder, 'pid'));
      const inside = (await run(line, { isSandbox: true })).ended.map(({ name }) => name);
      expect(inside).not.toContain('sh');
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'a process that has left the group, and names it',
    async () => {
      const id = randomUUID();
      const end = await run(`setsid sh -c 'echo $$ > pid; exec sleep 60' > /dev/null 2>&1 &`, {
        id,
      });
      // It may have been ended before it had become another program, or even written its number.
      expect(end.ended).toHaveLength(1);
      expect(await processesMarked(`ORION_COMMAND=${id}`)).toEqual([]);
    },
  );
});
