import type { JsonValue, TurnClaim, TurnLog, TurnLogEvent } from '@orion/contracts';

/** What a model says in the tenth of a second for which text is joined, at 50 tokens a second. */
const TEXT = 'and then it goes on with ';

/** A row of the log as a turn of a server makes them: some text, and what every event carries. */
export function textEvent(turnId: string, seq: number, content: string = TEXT): TurnLogEvent {
  const data: JsonValue = {
    content,
    source: 'model',
    requestId: turnId,
    projectId: 'workspace-844ef171',
    conversationId: turnId,
    protocol: 'standard',
    phase: 'action',
    phaseIndex: 1,
    cycleIndex: 0,
  };
  return { seq, kind: 'chunk', data };
}

/** As long as the ids that a server makes. */
export function liveTurnIds({ turns }: { readonly turns: number }): readonly string[] {
  return Array.from({ length: turns }, (_, index) => `live-${String(index).padStart(31, '0')}`);
}

/** Begins turns one after the other: the connections of a store are few. */
export async function begin(
  turnLog: Pick<TurnLog, 'acquire'>,
  turnIds: readonly string[],
): Promise<readonly TurnClaim[]> {
  const claims: TurnClaim[] = [];
  for (const turnId of turnIds) claims.push(await turnLog.acquire(turnId, 1));
  return claims;
}
