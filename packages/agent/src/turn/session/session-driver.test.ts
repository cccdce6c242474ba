import { link, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type {
  ProtocolEvent,
  ProtocolStrategy,
  RunEventBody,
  SessionHandle,
  Workspace,
} from '@orion/contracts';
import { createSession } from '@orion/core';
import { createFakeClock, createFakeTrace, createProtocolContext } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { SessionDriver } from './session-driver.ts';
import type { SessionOutcome } from './session-run.ts';
import { SETTINGS } from '../../testing/session-settings.ts';
import { temporaryDirectory, openWorkspace, RECORD, beginSession } from '../../testing/set-up.ts';

/** Hazard: the driver meets a defect, or another owner, while a model's text arrives; on a real disk. */

let clock: FakeClock;
let workspace: Workspace;
let handle: SessionHandle;

beforeEach(async () => {
  const root = await temporaryDirectory();
  clock = createFakeClock();
  workspace = await openWorkspace(root, clock);
  handle = await beginSession(workspace);
});

type Message = () => AsyncGenerator<ProtocolEvent, void>;

function text(content: string): ProtocolEvent {
  return { type: 'chunk', content, source: 'model' };
}

/** A model that sends these messages one after the other. */
function contentOf(...messages: readonly Message[]): ProtocolStrategy {
  const remaining = [...messages];
  return {
    getName: () => 'content',
    canHandle: () => true,
    executeStreaming: () => {
      const next = remaining.shift();
      if (next === undefined) throw new Error('a message more than the test has');
      return next();
    },
  };
}

function driverOf(
  content: ProtocolStrategy,
  driven: SessionHandle = handle,
  owner: { readonly confirm?: () => Promise<void>; readonly lost?: AbortSignal } = {},
): { readonly driver: SessionDriver; readonly finalize: ReturnType<typeof vi.fn> } {
  const finalize = vi.fn(() => Promise.reject(new Error('nothing is to be written here')));
  const { messages: _messages, ...context } = createProtocolContext({ clock });
  const driver = new SessionDriver({
    session: createSession(handle.metadata, SETTINGS).session,
    handle: driven,
    base: [],
    content,
    context,
    clock,
    trace: createFakeTrace(),
    projectId: 'p',
    requestId: 'r',
    contextLimit: 4096,
    finalize,
    confirm: () => Promise.resolve(),
    lost: driven.lost,
    ...owner,
    kept: { takeUntold: () => Promise.resolve([]) },
    signal: new AbortController().signal,
  });
  return { driver, finalize };
}

async function run(
  driver: SessionDriver,
): Promise<{ readonly events: readonly RunEventBody[]; readonly outcome: SessionOutcome }> {
  const events: RunEventBody[] = [];
  const running = driver.run({ kind: 'content' });
  for (;;) {
    const { done, value } = await running.next();
    if (done === true) return { events, outcome: value };
    events.push(value);
  }
}

const finish = (kind: 'stop' | 'length'): ProtocolEvent => ({
  type: 'outcome',
  outcome: {
    kind: 'message_end',
    finish: kind === 'stop' ? 'stop' : 'length',
    calls: [],
    appended: [],
  },
});

describe('R019: a defect while the text arrives', () => {
  it('pauses the session with INTERNAL_ERROR; its text is saved and anybody may go on with it', async () => {
    const broken = new Proxy(handle, {
      get(target, name) {
        if (name === 'readContent') {
          return () => {
            throw new TypeError('a defect');
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { driver, finalize } = driverOf(
      contentOf(async function* first() {
        yield text('one\ntwo\n');
        yield finish('length');
      }),
      broken,
    );
    const { events, outcome } = await run(driver);
    expect(outcome).toMatchObject({
      kind: 'paused',
      paused: { code: 'INTERNAL_ERROR', lines: 2, bytes: 8 },
      message: 'a defect',
    });
    expect(events.at(-1)).toMatchObject({
      type: 'write_session',
      status: 'session_active.paused',
      code: 'INTERNAL_ERROR',
    });
    expect(finalize).not.toHaveBeenCalled();
    expect(clock.pending()).toBe(0);
    // Nothing of this process keeps another one from it.
    const claimed = await workspace.sessions.claim(handle.id);
    expect(await readFile(claimed.handle.contentPath(), 'utf8')).toBe('one\ntwo\n');
    await claimed.handle.release();
  });
});

describe('R058, R060: another process takes the session over while the text arrives', () => {
  it('the driver leaves it: nothing more is read or written, and the person is told', async () => {
    let taken = false;
    let afterwards = 0;
    const release = vi.spyOn(handle, 'release');
    const { driver, finalize } = driverOf(
      contentOf(async function* first() {
        yield text('one\n');
        await handle.save(RECORD);
        await takeOver();
        taken = true;
        await clock.advance(5000);
        await vi.waitFor(() => expect(handle.lost.aborted).toBe(true));
        yield text('two\n');
        afterwards += 1;
        yield text('DONE\n');
        yield finish('stop');
      }),
    );
    const { events, outcome } = await run(driver);
    expect(taken).toBe(true);
    expect(outcome).toEqual({ kind: 'lost' });
    expect(afterwards).toBe(0);
    expect(finalize).not.toHaveBeenCalled();
    const notices = events.filter((event) => event.type === 'chunk' && event.source === 'notice');
    expect(JSON.stringify(notices)).toContain('Another process has taken over');
    expect(await readFile(join(handle.directory, 'content.txt'), 'utf8')).toBe('one\n');
    expect(await readdir(workspace.root)).toEqual(['.orion']);
    expect(clock.pending()).toBe(0);
    // It is not open here any more, should the other one die.
    expect(release).toHaveBeenCalledOnce();
  });
});

describe('O5: another process takes the turn of the session', () => {
  async function expectGivenBack(): Promise<void> {
    expect(await readdir(workspace.root)).toEqual(['.orion']);
    expect(clock.pending()).toBe(0);
    const claimed = await workspace.sessions.claim(handle.id);
    expect(await readFile(claimed.handle.contentPath(), 'utf8')).toBe('one\n');
    await claimed.handle.release();
  }

  it('while the text arrives: nothing more is read, saved or written, and the new owner may take the session', async () => {
    const owner = new AbortController();
    const save = vi.spyOn(handle, 'save');
    let afterwards = 0;
    const { driver, finalize } = driverOf(
      contentOf(async function* first() {
        yield text('one\n');
        owner.abort();
        save.mockClear();
        yield text('two\n');
        afterwards += 1;
        yield finish('stop');
      }),
      handle,
      { lost: owner.signal },
    );
    const { events, outcome } = await run(driver);
    expect(outcome).toEqual({ kind: 'lost' });
    expect(afterwards).toBe(0);
    expect(save).not.toHaveBeenCalled();
    expect(finalize).not.toHaveBeenCalled();
    expect(JSON.stringify(events)).not.toContain('paused');
    await expectGivenBack();
  });

  it('and its reader leaves at once: nothing is saved', async () => {
    const owner = new AbortController();
    const save = vi.spyOn(handle, 'save');
    const { driver } = driverOf(
      contentOf(async function* first() {
        yield text('one\n');
        yield finish('length');
      }),
      handle,
      { lost: owner.signal },
    );
    const running = driver.run({ kind: 'content' });
    for (;;) {
      const { value } = await running.next();
      if ((value as RunEventBody).type === 'write_chunk') break;
    }
    await clock.advance(0);
    owner.abort();
    save.mockClear();
    await running.return({ kind: 'lost' });
    expect(save).not.toHaveBeenCalled();
    expect(driver.outcome).toEqual({ kind: 'lost' });
    await expectGivenBack();
  });

  it('before it begins: the model is asked nothing', async () => {
    const owner = new AbortController();
    owner.abort();
    let asked = 0;
    handle.append('one\n');
    const { driver } = driverOf(
      contentOf(async function* first() {
        asked += 1;
        yield finish('stop');
      }),
      handle,
      { lost: owner.signal },
    );
    expect((await run(driver)).outcome).toEqual({ kind: 'lost' });
    expect(asked).toBe(0);
    await expectGivenBack();
  });

  it('right before the commit: no file is written (O4)', async () => {
    const owner = new AbortController();
    const { driver, finalize } = driverOf(
      contentOf(async function* first() {
        yield text('one\nDONE\n');
        yield finish('stop');
      }),
      handle,
      {
        lost: owner.signal,
        confirm: () => {
          owner.abort();
          return Promise.reject(new Error('taken'));
        },
      },
    );
    expect((await run(driver)).outcome).toEqual({ kind: 'lost' });
    expect(finalize).not.toHaveBeenCalled();
    await expectGivenBack();
  });
});

/** As a claim does it: whoever makes the name of the old token has the session. */
async function takeOver(): Promise<void> {
  const lease = join(handle.directory, 'lease.json');
  const record = JSON.parse(await readFile(lease, 'utf8')) as { readonly token: string };
  const winner = join(handle.directory, 'winner');
  await writeFile(winner, JSON.stringify({ ...record, token: 'f'.repeat(32), host: 'elsewhere' }));
  await link(winner, join(handle.directory, `claim-${record.token}`));
}
