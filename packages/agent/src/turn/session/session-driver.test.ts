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
