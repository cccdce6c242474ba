import { isDeepStrictEqual } from 'node:util';

import { TurnText } from '@orion/contracts';
import type { RunEvent } from '@orion/contracts';

import type { Reading } from './client.ts';
import { pieceTexts, promptOf } from './scripted-model.ts';
import type { TurnScript } from './scripted-model.ts';
import type { Effects } from './scripted-tools.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { EndedTurn } from './taken-turn.ts';
import type { World } from './world.ts';

type LoggedEvent = {
  readonly seq: number;
  readonly epoch: number;
  readonly kind: string;
  readonly data: string;
};

type ToolAnswer = {
  readonly callId: string;
  readonly ok: boolean;
  readonly error?: { readonly code: string };
};

/** How a turn may end that was interrupted too often. */
const GIVEN_UP: ReadonlySet<string> = new Set([
  'TURN_INTERRUPTED',
  'TURN_POISONED',
  'STORE_UNAVAILABLE',
  'TURN_LOG_GAP',
]);

/** Compares what is stored in the end with what was asked for and with what was read. */
export function judge(
  world: World,
  {
    database,
    effects,
    turns,
  }: {
    readonly database: SharedDatabase;
    readonly effects: Effects;
    readonly turns: readonly EndedTurn[];
  },
): { givenUp: number } {
  let givenUp = 0;
  const complete = new Set<string>();
  for (const turn of turns) {
    const events = logOf(database, turn.turnId);
    // A standby that had not received a turn does not have it; its client has seen its end before that.
    if (events.length === 0 && turn.readings.every(({ endedIn }) => endedIn < database.timeline))
      continue;
    const outcome = judgeLog(events, turn.script);
    for (const failure of outcome.failures) world.fail(`${turn.script.name}: ${failure}`);
    for (const failure of judgeQuestions(events, turn, database, effects))
      world.fail(`${turn.script.name}: ${failure}`);
    if (outcome.isComplete) complete.add(turn.script.name);
    else if (!outcome.isStopped) givenUp += 1;
    for (const reading of turn.readings) {
      if (reading.endedIn === database.timeline && !isSame(reading, events))
        world.fail(`${turn.script.name}: a reader has seen something else than the log has`);
    }
  }
  judgeRows(world, database);
  for (const conversation of new Set(turns.map(({ conversationId }) => conversationId))) {
    const scripts = turns
      .filter(({ conversationId }) => conversationId === conversation)
      .map(({ script }) => script);
    if (scripts.every(({ name }) => complete.has(name)))
      judgeConversation(world, database, conversation, scripts);
  }
  return { givenUp };
}

function logOf(database: SharedDatabase, turnId: string): readonly LoggedEvent[] {
  return database
    .rows(
      `select seq, turn_event.epoch, kind, data from turn join turn_event on turn_event.turn_no = turn.turn_no
       where turn_id = $1 order by seq`,
      turnId,
    )
    .map(({ seq, epoch, kind, data }) => ({
      seq: Number(seq),
      epoch: Number(epoch),
      kind: String(kind),
      data: String(data),
    }));
}

function judgeLog(
  events: readonly LoggedEvent[],
  script: TurnScript,
): {
  readonly failures: readonly string[];
  readonly isComplete: boolean;
  readonly isStopped: boolean;
} {
  const failures: string[] = [];
  const dones = events.filter(({ kind }) => kind === 'done');
  if (dones.length !== 1 || events.at(-1)?.kind !== 'done') failures.push(`${dones.length} done`);
  if (events.some(({ seq }, index) => seq !== index + 1)) failures.push('a gap in the log');
  const said = new TurnText();
  for (const { seq, kind, data } of events)
    said.add({ ...(JSON.parse(data) as object), seq, type: kind } as unknown as RunEvent);
  const done = JSON.parse(dones.at(-1)?.data ?? '{}') as {
    status?: string;
    stopReason?: string;
    fullContent?: string;
  };
  if (done.fullContent !== said.toString()) failures.push('done has another text than the log');
  const isComplete = done.status === 'complete';
  if (isComplete && done.fullContent !== textOf(script))
    failures.push(`another text than the model said: ${JSON.stringify(done.fullContent)}`);
  const isStopped = script.cancelAfterMs !== null && done.stopReason === 'cancelled';
  if (!isComplete && !isStopped) {
    const error = events.findLast(({ kind }) => kind === 'error');
    const { error: info } = JSON.parse(error?.data ?? '{}') as {
      error?: { code: string; message: string };
    };
    if (!GIVEN_UP.has(info?.code ?? ''))
      failures.push(`it ended with ${done.status} ${info?.code} ${info?.message}`);
  }
  return { failures, isComplete, isStopped };
}

/** Each call is asked about once, however often its turn was taken over, and what was decided is done. */
function judgeQuestions(
  events: readonly LoggedEvent[],
  { script, turnId }: EndedTurn,
  database: SharedDatabase,
  effects: Effects,
): readonly string[] {
  const failures: string[] = [];
  const logged = events
    .filter(({ kind }) => kind.startsWith('approval_'))
    .map(({ kind, data }) => `${kind} ${(JSON.parse(data) as { approvalId: string }).approvalId}`);
  if (new Set(logged).size < logged.length)
    failures.push('a question or a decision is twice in its log');
  // A store that went back may have forgotten a question, and what was decided about it.
  if (database.timeline > 0) return failures;
  const asked = database.rows(
    'select subject, call_id, state from approval where turn_id = $1',
    turnId,
  );
  if (new Set(asked.map((row) => row['subject'])).size < asked.length)
    failures.push('it asked twice about the same');
  const results = new Map(
    events
      .filter(({ kind }) => kind === 'tool_result')
      .map(({ data }) => JSON.parse(data) as ToolAnswer)
      .map((answer) => [answer.callId, answer]),
  );
  for (const { call_id: id = null, state } of asked) {
    if (id === null) continue;
    const callId = String(id);
    const hasRun = effects.hasBegun(turnId, callId);
    const { ok = false, error } = results.get(callId) ?? {};
    // A call may have begun in a process that died before it could do anything.
    const mayBeLost = error?.code === 'UNKNOWN_OUTCOME' || script.cancelAfterMs !== null;
    if (hasRun && state !== 'yes') failures.push(`${callId} ran in spite of a ${state}`);
    if (!hasRun && state === 'yes' && (ok || (results.has(callId) && !mayBeLost)))
      failures.push(`${callId} did not run in spite of a yes`);
  }
  if (script.cancelAfterMs === null && asked.some(({ state }) => state === 'pending'))
    failures.push('a question waits of a turn that is over');
  return failures;
}

function textOf(script: TurnScript): string {
  return Array.from({ length: script.calls.length + 1 }, (_, step) =>
    pieceTexts(script, step).join(''),
  ).join('');
}

function isSame({ seen }: Reading, events: readonly LoggedEvent[]): boolean {
  return isDeepStrictEqual(
    seen.map(({ seq, epoch, kind, data }) => [seq, epoch, kind, data]),
    events.map(({ seq, epoch, kind, data }) => [seq, epoch, kind, JSON.parse(data)]),
  );
}

/** No turn and no job is left that nobody asked for. */
function judgeRows(world: World, database: SharedDatabase): void {
  const open = database.rows(
    'select turn_id from turn where state is not null and finished_at is null',
  );
  for (const { turn_id: id } of open) world.fail(`the turn ${id} is not over`);
  const [keys] = database.rows(
    `select count(*) as turns, count(distinct json_extract(request, '$.content')) as prompts
     from turn where state is not null`,
  );
  if (keys?.['turns'] !== keys?.['prompts']) world.fail('a submission made two turns');
}

function judgeConversation(
  world: World,
  database: SharedDatabase,
  conversationId: string,
  scripts: readonly TurnScript[],
): void {
  const found = database
    .rows(
      'select message from conversation_message where conversation_id = $1 order by position',
      conversationId,
    )
    .map(({ message }) => JSON.parse(String(message)) as { role: string; content: string })
    .map(({ role, content }) => [role, role === 'tool' ? '' : content])
    // A file that a failover has forgotten is begun again, without a word.
    .filter(
      ([, content], index, all) =>
        database.timeline === 0 || content !== '' || all[index - 1]?.[1] !== '',
    );
  const expected = scripts.flatMap((script) => [
    ['user', promptOf(script)],
    ...script.calls.flatMap((_, step) => [
      ['assistant', pieceTexts(script, step).join('')],
      ['tool', ''],
    ]),
    ['assistant', pieceTexts(script, script.calls.length).join('')],
  ]);
  if (!isDeepStrictEqual(found, expected))
    world.fail(`the conversation ${conversationId} is another: ${JSON.stringify(found)}`);
}
