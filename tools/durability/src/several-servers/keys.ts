/** The same message with the same key, sent to all servers at once: one turn, and never two. */
import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase, numberOf } from '../served-turns/databases.ts';
import { makeStage } from '../served-turns/stage.ts';
import type { Answer } from '../served-turns/stage.ts';
import { startGroup } from './group.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';

const KEYS = 100;
const SCRIPT = { behaviours: [{ reply: { text: 'It is done.' } }] };

export async function sendTwice(
  { servers, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const database = await makeDatabase(postgres.url);
  const stage = await makeStage({ before: {}, script: SCRIPT }, database, environmentOf(sessions));
  const failures: string[] = [];
  try {
    const group = await startGroup(stage, { count: servers, isOneParent });
    const post = (server: number, key: string, content: string): Promise<Answer> =>
      group
        .at(server)
        .ask('POST', '/api/chat/messages', { content, conversationId: `of-${key}` }, key);
    const everywhere = Array.from({ length: servers }, (_, index) => index);
    const turns = new Set<unknown>();
    for (let number = 1; number <= KEYS; number += 1) {
      const key = `key-${number}`;
      const answers = await Promise.all(everywhere.map((server) => post(server, key, 'Do it.')));
      const ids = new Set(answers.map(({ body }) => (body as { turnId?: string }).turnId));
      if (ids.size !== 1 || answers.some(({ status }) => status !== 202))
        failures.push(`${key}: ${JSON.stringify(answers)}`);
      for (const id of ids) turns.add(id);
      const { status, body } = await post(number, key, 'Do something else.');
      const { code } = (body as { error?: { code?: string } }).error ?? {};
      if (status !== 422 || code !== 'IDEMPOTENCY_MISMATCH')
        failures.push(`${key} with another body: ${status} ${JSON.stringify(body)}`);
    }
    const stored = await numberOf(database, 'select count(*) from turn');
    if (turns.size !== KEYS || stored !== KEYS)
      failures.push(`${KEYS} keys made ${turns.size} turns, and ${stored} are stored`);
    await group.end();
    return { figures: { keys: KEYS, turns: stored }, failures };
  } finally {
    await stage.strike();
  }
}
