import { basename, relative, sep } from 'node:path';

import type { Instructions } from '@orion/agent';
import type { SessionListing } from '@orion/contracts';

import { chooseConversation } from '../commands/conversation-choice.ts';
import { placeOf } from '../commands/place.ts';
import { putAsideLines } from '../commands/put-aside-lines.ts';
import type { CommandContext } from '../process/context.ts';
import { formatAge, formatBytes, plural } from '../terminal/format.ts';
import { VERSION } from '../version.ts';
import { choice } from './asking.ts';
import type { ChatTools } from './tools.ts';
import { showEnd } from './session-end.ts';

const UNFINISHED_CHOICES = [
  choice('(Y)es'),
  choice('(n)o, keep it for later'),
  choice('(d)iscard'),
  choice('(s)how the end'),
];

/** Says where one is, and offers what was left open, newest first. */
export async function startConversation(tools: ChatTools, signal: AbortSignal): Promise<void> {
  const { orion, turns, configuration, context } = tools;
  tools.line(header(tools, await orion.readInstructions()), 'faint');
  const cleaned = await orion.housekeep();
  if (!configuration.quiet) {
    const place = placeOf(context, configuration.workspace);
    for (const line of putAsideLines(cleaned, place)) tools.line(line, 'faint');
  }
  const conversation = await chooseConversation(orion, configuration);
  turns.goTo(conversation?.conversationId ?? null);
  await offerUnfinished(tools, conversation?.openSessionId ?? null, signal);
  await offerWaiting(tools, signal);
  const isNew = conversation === null && turns.conversationId === null;
  if (configuration.conversation.kind === 'latest' && isNew) {
    tools.line('There is no conversation to continue: this is a new one.');
  }
}

function header(
  { turns, configuration, context }: ChatTools,
  instructions: readonly Instructions[],
): string {
  const { model } = turns.choices;
  const parts = [
    `orion ${VERSION}`,
    model ?? configuration.provider.type ?? '',
    shortPath(configuration.workspace, context),
    ...instructions.map((each) => instructionsPart(each)),
  ];
  return parts.join(' · ');
}

function instructionsPart({ name, content, truncated, origin }: Instructions): string {
  const size = formatBytes(Buffer.byteLength(content));
  return `${origin === 'user' ? 'your ' : ''}${name} (${truncated ? 'its first ' : ''}${size})`;
}

/** With `~` for the home folder. */
export function shortPath(path: string, { homeDirectory }: CommandContext): string {
  if (homeDirectory === null) return path;
  const below = relative(homeDirectory, path);
  const isBelow = below !== '' && !below.startsWith('..') && basename(below) !== '';
  return isBelow ? `~${sep}${below}` : path;
}

/** R061. `first`: a session to offer before the newest. */
async function offerUnfinished(
  tools: ChatTools,
  first: string | null,
  signal: AbortSignal,
): Promise<void> {
  const { orion, configuration } = tools;
  const sessions = (await orion.listSessions('recoverable')).toSorted(
    (one, other) =>
      Number(other.session_id === first) - Number(one.session_id === first) ||
      one.age_ms - other.age_ms,
  );
  let { recover } = configuration;
  for (const session of sessions) {
    tools.line(`A file is unfinished: ${describeSession(session)}.`, 'warning');
    const answer =
      recover === 'no' || signal.aborted
        ? 'n'
        : recover === 'yes'
          ? 'y'
          : await askAbout(tools, session, signal);
    if (answer === 'y') {
      tools.send(`/continue ${session.session_id}`);
      // The others are listed.
      recover = 'no';
    } else if (answer === 'd') {
      const { attic } = await orion.discardSession(session.session_id);
      tools.line(`Put aside for 30 days in ${attic}.`);
    } else {
      tools.line('It is kept: /writes shows what can be done with it.', 'faint');
    }
  }
}

const WAITING_CHOICES = [
  choice('(y)es'),
  choice('(e)dit it first'),
  choice('(n)o, keep it for later'),
  choice('(d)iscard'),
];

/** Prompts that waited for the end of a turn when the process ended. */
async function offerWaiting(tools: ChatTools, signal: AbortSignal): Promise<void> {
  const { queuedPrompts } = tools.orion;
  for (const { id, text, conversationId } of await tools.waitedEarlier()) {
    tools.line('A prompt was waiting when the last conversation ended:', 'warning');
    tools.face.print({ kind: 'prompt', text, attached: [] });
    // In the plain face the terminal edits what is typed, and nothing can be put there.
    const choices = tools.isPlain
      ? WAITING_CHOICES.filter(({ key }) => key !== 'e')
      : WAITING_CHOICES;
    const question = { kind: 'choice', choices, preset: null } as const;
    const answer = await tools.ask({ ...question, text: 'Send it now?' }, signal);
    switch (answer?.value) {
      case 'y':
        if (tools.turns.facts.conversationId === null) tools.turns.goTo(conversationId);
        tools.send(text, id);
        break;
      case 'e':
        if (await queuedPrompts.remove(id)) tools.face.setDraft(text);
        // There is one draft.
        return;
      case 'd':
        await queuedPrompts.remove(id);
        break;
      default:
    }
  }
}

async function askAbout(
  tools: ChatTools,
  session: SessionListing,
  signal: AbortSignal,
): Promise<string | null> {
  for (;;) {
    const question = {
      kind: 'choice',
      text: 'Go on with it?',
      choices: UNFINISHED_CHOICES,
      preset: 'y',
    } as const;
    const answer = await tools.ask(question, signal);
    if (answer?.value !== 's') return answer?.value ?? null;
    await showEnd(tools, session.session_id);
  }
}

/** Its file, and how much of it there is. */
export function describeSession(session: SessionListing): string {
  const { session_id, target_file, operation, lines, age_ms } = session;
  return [
    target_file ?? session_id,
    operation ?? 'unknown operation',
    plural(lines, 'line'),
    `${formatAge(age_ms)} ago`,
  ].join(', ');
}
