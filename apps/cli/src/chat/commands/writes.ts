import { defined } from '@orion/contracts';
import type { SessionListing } from '@orion/contracts';

import { choice } from '../asking.ts';
import type { Completion } from '../face.ts';
import { showEnd } from '../session-end.ts';
import { describeSession } from '../start.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';
import { decisionsOf, type FinishDecision } from './finish-decisions.ts';

const ACTIONS = [
  choice('(g)o on with it'),
  choice('(w)rite what is saved'),
  choice('(s)how the end'),
  choice('(d)iscard'),
  choice('(n)othing'),
];

const writes: ChatCommand = {
  name: 'writes',
  argument: '[id]',
  summary: 'unfinished files: go on, finish, show, discard',
  beside: false,
  async run(tools, argument, signal) {
    const session = await chooseSession(tools, argument, signal);
    if (session === null) return;
    const { session_id: id } = session;
    for (;;) {
      const text = `${describeSession(session)}: what now?`;
      const answer = await tools.ask(
        { kind: 'choice', text, choices: ACTIONS, preset: null },
        signal,
      );
      switch (answer?.value) {
        case 'g':
          return tools.turns.run({ content: '', recover: id }, signal);
        case 'w':
          return finish(tools, id, signal);
        case 'd': {
          const { attic } = await tools.orion.discardSession(id);
          tools.turns.forgetSession(id);
          tools.line(`Put aside for 30 days in ${attic}.`);
          return;
        }
        case 's':
          await showEnd(tools, id);
          break;
        default:
          return;
      }
    }
  },
  complete: completeSession,
};

const goOn: ChatCommand = {
  name: 'continue',
  argument: '[id]',
  summary: 'goes on with the newest unfinished file, or the one that is named',
  beside: false,
  async run(tools, id, signal) {
    const [newest] = await unfinished(tools);
    if (newest === undefined && id === '') {
      tools.line('No file is unfinished.');
      return;
    }
    await tools.turns.run(
      { content: '', ...defined({ recover: id === '' ? newest?.session_id : id }) },
      signal,
    );
  },
  complete: completeSession,
};

export const writeCommands: readonly ChatCommand[] = [writes, goOn];

async function completeSession(tools: ChatTools): Promise<Completion['items']> {
  return (await unfinished(tools)).map((session) => ({
    value: session.session_id,
    label: session.session_id,
    detail: describeSession(session),
  }));
}

/** Newest first. */
async function unfinished({ orion }: ChatTools): Promise<readonly SessionListing[]> {
  const sessions = await orion.listSessions();
  return sessions
    .filter(({ status }) => status === 'orphan')
    .toSorted((one, other) => one.age_ms - other.age_ms);
}

async function chooseSession(
  tools: ChatTools,
  id: string,
  signal: AbortSignal,
): Promise<SessionListing | null> {
  const sessions = await unfinished(tools);
  const [only] = sessions;
  if (only === undefined) {
    tools.line('No file is unfinished.');
    return null;
  }
  if (id !== '') {
    const named = sessions.find(({ session_id }) => session_id === id) ?? null;
    if (named === null) tools.line(`${id} is not an unfinished file: /writes lists them.`, 'error');
    return named;
  }
  if (sessions.length === 1) return only;
  const items = sessions.map((session) => ({
    value: session.session_id,
    label: session.target_file ?? session.session_id,
    detail: describeSession(session),
  }));
  const answer = await tools.ask({ kind: 'pick', text: 'Which file?', items }, signal);
  return sessions.find(({ session_id }) => session_id === answer?.value) ?? null;
}

/** Writes what is saved; a question that this brings up is asked. */
async function finish(tools: ChatTools, sessionId: string, signal: AbortSignal): Promise<void> {
  const { orion, turns } = tools;
  const run = async (decision: FinishDecision): Promise<void> =>
    turns.show(orion.finalizeSession({ sessionId, signal, approve: turns.approve(), ...decision }));
  await run({});
  const { paused } = turns.facts;
  const decisions = paused?.session_id === sessionId ? decisionsOf(paused.commands) : [];
  if (decisions.length === 0) return;
  const items = decisions.map(({ label }, index) => ({ value: String(index), label, detail: '' }));
  const answer = await tools.ask({ kind: 'pick', text: 'How does it end?', items }, signal);
  const chosen = answer === null ? undefined : decisions[Number(answer.value)];
  if (chosen !== undefined) await run(chosen.decision);
}
