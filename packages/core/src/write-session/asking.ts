import { DONE_MARKER } from '@orion/contracts';

import { openQuestionOf } from './control.ts';
import { choicesOf, questionPrompt } from './questions/questions.ts';
import type { PromptReason, WriteSession } from './session.ts';
import type { EffectHandlers, Step } from './step.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import {
  anewPrompt,
  askedAgainPrompt,
  bridgePrompt,
  continuationPrompt,
  correctionsPrompt,
  emptyPrompt,
  idlePrompt,
  nothingSavedPrompt,
  quotedText,
  reaskPrompt,
  recoveryPrompt,
} from './text/prompts.ts';

/** The effects that send a prompt to the model. */
export const ASKING: Pick<EffectHandlers, Extract<keyof EffectHandlers, `ask_${string}`>> = {
  ask_idle: (step) => {
    if (step.session.control.kind === 'awaiting_content')
      send(step, 'nothing_saved', nothingSavedPrompt(factsOf(step.session)));
    else send(step, 'idle', idlePrompt(joinOf(step.session)));
  },
  ask_empty: (step) => send(step, 'empty', emptyPrompt(factsOf(step.session))),
  ask_continuation: (step) => {
    const join = joinOf(step.session);
    send(step, 'continuation', continuationPrompt(join), { opening: quotedText(join.anchor) });
  },
  ask_again: (step) => send(step, 'ask_again', reaskPrompt(joinOf(step.session))),
  ask_bridge: (step) => {
    const { control } = step.session;
    if (control.kind !== 'awaiting_more' || control.expecting.kind !== 'bridge')
      throw new Error('a bridge was asked for that is not expected');
    const { headLines } = control.expecting;
    send(step, 'bridge', bridgePrompt({ ...joinOf(step.session), headLines }));
  },
  ask_recovery: (step) => {
    const { control, metadata } = step.session;
    if (control.kind === 'awaiting_content') {
      const interrupted = `The session for ${metadata.target_file} was interrupted.\n`;
      const prompt = `${interrupted}${nothingSavedPrompt(factsOf(step.session))}`;
      send(step, 'recovery', prompt);
    } else {
      send(step, 'recovery', recoveryPrompt(joinOf(step.session)));
    }
  },
  ask_anew: (step) => {
    const { metadata } = step.session;
    send(step, 'anew', anewPrompt({ ...metadata, ...factsOf(step.session) }));
  },
  ask_question: (step) => {
    const { control } = step.session;
    const question = openQuestionOf(control);
    if (question === null) throw new Error('a question was asked where none is open');
    const facts = factsOf(step.session);
    const prompt = questionPrompt(question, facts);
    const choices = choicesOf(question).map(({ reply }) =>
      reply === DONE_MARKER ? facts.marker : reply,
    );
    const isAgain = control.kind === 'awaiting_answer' && control.again;
    const asked = isAgain ? askedAgainPrompt(choices, prompt) : prompt;
    send(step, 'question', asked);
  },
  ask_corrections: (step) => {
    const { control, metadata, repair } = step.session;
    if (control.kind !== 'needs_corrections')
      throw new Error('corrections were asked for outside their state');
    const { round, places } = control;
    step.trace('corrections_requested', {
      attempt: round + 1,
      places: places.length,
      invalid_found: repair?.found ?? 0,
    });
    const prompt = correctionsPrompt({ target: metadata.target_file, places });
    send(step, 'corrections', prompt);
  },
};

function send(
  step: Step,
  reason: PromptReason,
  prompt: string,
  more: { readonly opening?: string } = {},
): void {
  step.emit({ type: 'send_prompt', prompt, reason, ...more });
}

/** The facts that prompts quote; `marker` is the line that ends the file. */
function factsOf({ metadata, settings, summary }: WriteSession) {
  return {
    target: metadata.target_file,
    operation: metadata.operation,
    marker: settings.strict ? metadata.end_marker : DONE_MARKER,
    tag: metadata.session_id.slice(0, 4),
    savedLines: summary.lineFeeds - summary.lineFeedsBefore,
    anchor: () => chooseAnchor(summary),
  };
}

/** The same for prompts about a join, which always quote the anchor. */
function joinOf(session: WriteSession) {
  return { ...factsOf(session), anchor: chooseAnchor(session.summary) };
}
