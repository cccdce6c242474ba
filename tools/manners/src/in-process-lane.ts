import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { createOrion } from '@orion/agent';
import type { FinalizeRequest, Orion } from '@orion/agent';
import type { PausedSession, RunEvent, WriteReceipt } from '@orion/contracts';

import type { Ended, Lane } from './lane.ts';

/**
 * The agent in this process, over the same sockets and files: some ten times as fast as the command, which reads its
 * options and writes its lines besides.
 */
export async function openInProcessLane(url: string): Promise<Lane> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-manners-')));
  const workspace = join(root, 'workspace');
  await mkdir(workspace);
  /** The model of the turn, which a recovery takes from the session's record. */
  let model = '';
  async function withOrion(use: (orion: Orion) => Promise<Ended>): Promise<Ended> {
    const orion = await createOrion({
      workspace,
      userDirectory: join(root, 'home'),
      provider: { type: 'openai', baseUrl: url, model },
      store: 'memory',
      settings: { idleMs: 1 },
    });
    try {
      return await use(orion);
    } finally {
      await orion.close();
    }
  }
  return {
    workspace,
    run: (one) => {
      model = one.name;
      return withOrion((orion) => endOf(orion.runTurn({ content: 'Write it.' })));
    },
    command: (words) => withOrion((orion) => runCommand(orion, words)),
    clear: async () => {
      await rm(workspace, { recursive: true, force: true });
      await mkdir(workspace);
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

/** What `recover-session` does with these words. */
async function runCommand(orion: Orion, words: readonly string[]): Promise<Ended> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      finalize: { type: 'boolean', default: false },
      discard: { type: 'boolean', default: false },
      answer: { type: 'string' },
      'end-at': { type: 'string' },
      from: { type: 'string' },
    },
  });
  const [name, id] = positionals;
  if (name !== 'recover-session') throw new Error(`not run in process: orion ${words.join(' ')}`);
  const sessionId = id ?? (await orion.adoptSession(values.from ?? ''));
  if (values.discard) {
    await orion.discardSession(sessionId);
    return { exitCode: 0, receipts: [], paused: [], words: '' };
  }
  if (!values.finalize) return endOf(orion.recoverSession({ sessionId }));
  return endOf(
    orion.finalizeSession({
      sessionId,
      ...(values.answer === undefined
        ? {}
        : { answer: values.answer as NonNullable<FinalizeRequest['answer']> }),
      ...(values['end-at'] === undefined ? {} : { endAt: Number(values['end-at']) }),
    }),
  );
}

async function endOf(events: AsyncIterable<RunEvent>): Promise<Ended> {
  const receipts: WriteReceipt[] = [];
  const paused: PausedSession[] = [];
  const words: string[] = [];
  const notes: string[] = [];
  let status = '';
  try {
    for await (const event of events) {
      if (event.type === 'write_session') {
        if (event.receipt !== undefined) receipts.push(event.receipt);
        if (event.paused !== undefined) paused.push(event.paused);
        if (event.code === 'EMPTY_CONTENT') notes.push(event.code);
      }
      if (event.type === 'error') words.push(event.error.message);
      if (event.type === 'done') ({ status } = event);
    }
  } catch (error) {
    words.push(String(error));
  }
  const exitCode = paused.length > 0 ? 3 : words.length > 0 ? 1 : 0;
  return { exitCode, receipts, paused, words: [...words, ...notes, status].join('\n') };
}
