import type { Client, Reading } from './client.ts';
import type { TurnScript } from './scripted-model.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { World } from './world.ts';

/** A turn of a client, in the end. */
export type EndedTurn = {
  readonly script: TurnScript;
  readonly conversationId: string;
  readonly turnId: string;
  readonly readings: readonly Reading[];
};

type Surroundings = {
  readonly world: World;
  readonly client: Client;
  readonly database: SharedDatabase;
};

/** Somebody's turn: it is submitted and read, its questions are answered, and it may be cancelled. */
export async function takeTurn(
  surroundings: Surroundings,
  turn: Pick<EndedTurn, 'script' | 'conversationId'> & { readonly readers: number },
): Promise<EndedTurn> {
  const { world, client } = surroundings;
  const { script, conversationId, readers } = turn;
  // A turn that is gone with a failover is submitted again.
  for (;;) {
    const turnId = await client.submit(script, conversationId);
    const failed = (error: unknown): void => world.fail(`a person: ${String(error)}`);
    answerQuestions(surroundings, script, turnId).catch(failed);
    if (script.cancelAfterMs !== null)
      void world
        .pause(script.cancelAfterMs)
        .then(() => client.cancel(turnId))
        .catch(failed);
    const readings = await Promise.all(Array.from({ length: readers }, () => client.read(turnId)));
    if (readings.every(({ isDone }) => isDone)) return { script, conversationId, turnId, readings };
  }
}

/** How often a person looks whether there is a question. */
const LOOK_MS = 500;

/**
 * People who answer what a turn asks, until the run is over: with a failover, a turn of which they have seen the end may
 * come back, and ask again what they have answered.
 */
async function answerQuestions(
  { world, client, database }: Surroundings,
  { answers, answerAfterMs }: TurnScript,
  turnId: string,
): Promise<void> {
  if (answers.length === 0) return;
  const known = new Set<string>();
  for (;;) {
    const pending = database.rows(
      `select approval_id, hash from approval where turn_id = $1 and state = 'pending'`,
      turnId,
    );
    for (const { approval_id: id, hash } of pending) {
      const approvalId = String(id);
      const name = `${database.timeline} ${approvalId}`;
      if (known.has(name)) continue;
      known.add(name);
      for (const decision of answers) {
        await world.pause(answerAfterMs / answers.length);
        void client.decide(approvalId, { decision, hash: String(hash) });
      }
    }
    await world.pause(LOOK_MS);
  }
}
