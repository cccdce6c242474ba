import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { createOrion } from '@orion/agent';
import { OrionError, systemClock } from '@orion/contracts';
import type { LlmAdapter } from '@orion/contracts';

import { DEFAULT_LIMITS } from '../limits.ts';
import { createLog } from '../operation/request-log.ts';
import { projectsOf } from '../projects.ts';
import { openTurns } from '../turns/open-turns.ts';

// Run by process-runner.ts: <workspace> <database URL or -> <queue> <pause between two pieces of text, in ms>. Submits a
// turn for each line that it reads, prints what it stored, and what began to speak and ended.
const [workspace = '', databaseUrl = '-', queue = '', pauseMs = '1'] = process.argv.slice(2);
const WORDS = 20;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const adapter: LlmAdapter = {
  name: 'slow',
  model: 'slow',
  signalsMessageEnd: true,
  structuredOutput: false,
  async *sendMessagesStreaming(_, { signal }) {
    for (let word = 1; word <= WORDS; word += 1) {
      yield { type: 'text-delta', text: `${word}\n` };
      await sleep(Number(pauseMs), null, signal === undefined ? {} : { signal });
    }
    yield { type: 'finish', reason: 'stop' };
  },
};
const settings = databaseUrl === '-' ? {} : { databaseUrl };
const orion = await createOrion({ workspace, adapter, settings });
const turns = await openTurns({
  orion,
  projects: projectsOf(orion),
  limits: { ...DEFAULT_LIMITS, turns: 3 },
  clock: systemClock,
  eventLoopDelayMs: () => 0,
  log: createLog(process.stderr, 'test', 'error'),
  queue: queue === 'pg-boss' ? 'pg-boss' : 'in-process',
  isStopping: () => false,
  onEvent(event) {
    if (event.type === 'chunk') say(`speaks ${event.requestId}`);
    if (event.type === 'done') say(`ended ${event.requestId}`);
  },
}).catch((error: unknown) => {
  say(OrionError.isInstance(error) ? error.code : 'failed');
  process.exit(1);
});
turns.start();
// Most of these processes are killed: they leave what they have compiled to the next one.
flushCompileCache();
say('serves');

for await (const line of createInterface({ input: process.stdin })) {
  const [order = '', turnId = ''] = line.split(' ');
  if (order === 'cancel') {
    await turns.service.cancel(turnId);
    continue;
  }
  if (order === 'stop') {
    await turns.stop(0);
    await turns.hold.release();
    await orion.close();
    process.stdin.destroy();
    break;
  }
  const { turn } = await turns.service.submit(
    {
      projectId: 'p',
      content: 'q',
      mode: 'act',
      conversationId: line,
      protocol: null,
      metadata: {},
    },
    null,
  );
  say(`stored ${turn.turnId}`);
}
