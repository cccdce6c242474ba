import { setTimeout as pause } from 'node:timers/promises';

import { createSanitizer, sanitizeLine } from '../../terminal/sanitize.ts';
import { paint, type LineKind } from '../../terminal/tone.ts';
import type { Face, FaceChoice, FaceQuestion, FaceView } from '../face.ts';
import { createInputQueue } from '../input-queue.ts';
import type { FaceOptions } from '../open-face.ts';
import { attachedLines, PROMPT_SIGN, transcriptLines } from '../transcript.ts';
import { numberQuestion, readAnswer, type NumberedQuestion } from './numbered.ts';
import { readTypedLines } from './typed-lines.ts';

/** What typing means now. */
type Asking =
  | { readonly kind: 'nothing' }
  /** The question is not shown yet: what is typed now does not answer it. */
  | { readonly kind: 'soon'; readonly question: FaceQuestion }
  | {
      readonly kind: 'question';
      readonly question: FaceQuestion;
      /** What was shown. */
      readonly shown: NumberedQuestion;
    }
  | {
      readonly kind: 'reason';
      readonly question: FaceQuestion;
      readonly choice: FaceChoice;
      readonly shown: Pick<NumberedQuestion, 'invitation'>;
    };

const NOTHING: FaceView = { busy: false, activity: null, queued: [], status: [], question: null };
const GOES_ON = '| ';
/** How long a terminal that does not read can keep a conversation from ending. */
const LAST_WORDS_MS = 500;

/**
 * The face for screen readers, and for terminals that can do little.
 *
 * P1. Its output is lines that follow each other. Nothing is redrawn; of control sequences there are colours alone.
 * P2. The terminal itself edits what is typed.
 */
export function createPlainFace({ stdin, output, colors, bell }: FaceOptions): Face {
  const inputs = createInputQueue();
  const writer = createLineWriter(output, colors);
  let view = NOTHING;
  let asking: Asking = { kind: 'nothing' };
  let lastSubmitted: string | null = null;
  /** What is shown next is the answer to what was just sent. */
  let sent = false;
  /** Whether a text of the model is not complete. */
  let saying = false;
  let asked = Promise.resolve();
  const typing = readTypedLines({
    stdin,
    onLineEnd: () => writer.entered(),
    onText(text) {
      take(text);
      invite();
    },
    onOpen: () => writer.invite(GOES_ON),
    onEnd() {
      inputs.push({ type: 'end' });
      inputs.end();
    },
  });

  function take(text: string): void {
    if (asking.kind === 'reason') {
      answer(asking.question, asking.choice.key, text);
    } else if (asking.kind === 'question') {
      takeAnswer(asking.question, asking.shown.values, text);
    } else if (text.trim() !== '') {
      lastSubmitted = text;
      sent = true;
      inputs.push({ type: 'submitted', text });
    }
  }

  function takeAnswer(question: FaceQuestion, values: readonly string[], text: string): void {
    const answered = readAnswer(question, values, text);
    switch (answered.kind) {
      case 'answer':
        return answer(question, answered.value, answered.text);
      case 'asksFor':
        asking = {
          kind: 'reason',
          question,
          choice: answered.choice,
          shown: { invitation: `${sanitizeLine(answered.what)}: ` },
        };
        return writer.invite(asking.shown.invitation);
      case 'filter':
        return ask(question, answered.words);
      case 'none':
        writer.line('This is not one of the answers.');
        return ask(question);
      default:
        return answered satisfies never;
    }
  }

  function answer(question: FaceQuestion, value: string | null, text: string): void {
    asking = { kind: 'nothing' };
    inputs.push({ type: 'answered', id: question.id, value, text });
  }

  function ask(question: FaceQuestion, filter?: string): void {
    const shown = numberQuestion(question, filter);
    asking = { kind: 'question', question, shown };
    show(shown);
  }

  function show({ lines, invitation }: NumberedQuestion): void {
    for (const line of lines) writer.line(line);
    writer.invite(invitation);
  }

  async function askSoon(question: FaceQuestion): Promise<void> {
    await output.flush();
    if (!isAskedSoon(question)) return;
    const early = await typing.takeTyped();
    const end = early.lastIndexOf('\n');
    if (early.slice(0, end).trim() !== '') {
      inputs.push({ type: 'submitted', text: early.slice(0, end) });
    }
    const begun = early.slice(end + 1);
    if (begun !== '') writer.line(`Not sent: ${sanitizeLine(begun)}`, 'warning');
    if (isAskedSoon(question)) ask(question);
  }

  const isAskedSoon = ({ id }: FaceQuestion): boolean =>
    asking.kind === 'soon' && asking.question.id === id;

  /** Says what typing means now, unless the cursor is behind that; a question is not repeated within a text. */
  function invite(): void {
    if (typing.isOpen()) return;
    if (asking.kind === 'question' || asking.kind === 'reason') {
      if (!saying) writer.invite(asking.shown.invitation);
    } else if (!sent && !view.busy && view.question === null) {
      writer.invite(PROMPT_SIGN);
    }
  }

  return {
    inputs,
    print(block) {
      if (block.kind === 'prompt' && block.text === lastSubmitted && !writer.wroteSinceEntered()) {
        // It is there already, as the terminal has echoed it.
        for (const line of attachedLines(block.attached, colors)) writer.line(line);
      } else {
        for (const line of transcriptLines(block, { colors, columns: output.columns() }))
          writer.line(line);
      }
      invite();
    },
    async printWhole(lines) {
      const whole = transcriptLines(
        { kind: 'verbatim', lines },
        { colors, columns: output.columns() },
      );
      for (const line of whole) await writer.wholeLine(line);
      invite();
    },
    say(text) {
      saying = true;
      writer.text(text);
    },
    endSaying() {
      saying = false;
      writer.endText();
      // The text may have moved it from the screen.
      if (asking.kind === 'question' && !writer.isInviting()) show(asking.shown);
      else if (asking.kind === 'reason') invite();
    },
    show(next) {
      const before = view;
      view = next;
      const { question } = next;
      sent = false;
      if (question === null) {
        asking = { kind: 'nothing' };
      } else if (question.id !== before.question?.id) {
        asking = { kind: 'soon', question };
        asked = asked.then(() => askSoon(question));
      }
      if (next.busy && next.queued.length > before.queued.length) {
        writer.line(`Waits for the end of the turn: ${next.queued.length}.`, 'faint');
      }
      if (bell && before.busy && !next.busy) writer.emit('\u0007');
      invite();
    },
    // The terminal has it.
    draft: () => '',
    setDraft(text) {
      if (text !== '') writer.line(`Not sent: ${sanitizeLine(text)}`, 'warning');
    },
    emit: (sequence) => writer.emit(sequence),
    async lend(use) {
      typing.pause();
      await output.flush();
      try {
        await use();
      } finally {
        typing.resume();
        invite();
      }
    },
    async close() {
      typing.pause();
      inputs.end();
      writer.endLine();
      await Promise.race([output.flush(), pause(LAST_WORDS_MS, undefined, { ref: false })]);
    },
  };
}

/** Whole lines, whatever stands in the last one. */
function createLineWriter(output: FaceOptions['output'], colors: boolean) {
  const sanitizer = createSanitizer();
  /** What the cursor is behind. */
  let open: 'nothing' | 'text' | 'invitation' = 'nothing';
  let wrote = false;

  function endLine(): void {
    if (open !== 'nothing') void output.offer('\n');
    open = 'nothing';
  }

  return {
    line(text: string, kind: LineKind = 'notice'): void {
      endLine();
      void output.offer(`${paint(text, kind, colors)}\n`);
      wrote = true;
    },
    /** Settles when there is room for more. */
    wholeLine(text: string): Promise<void> | undefined {
      endLine();
      wrote = true;
      return output.write(`${text}\n`);
    },
    text(text: string): void {
      const shown = sanitizer.push(text);
      if (shown === '') return;
      if (open === 'invitation') endLine();
      void output.offer(shown);
      open = shown.endsWith('\n') ? 'nothing' : 'text';
      wrote = true;
    },
    endText(): void {
      const rest = sanitizer.end();
      if (rest !== '') void output.offer(rest);
      if (open === 'text') endLine();
    },
    /** Says what is expected, once. */
    invite(text: string): void {
      if (open === 'invitation') return;
      endLine();
      void output.offer(text);
      open = 'invitation';
    },
    /** The person has ended the line. */
    entered(): void {
      open = 'nothing';
      wrote = false;
    },
    isInviting: () => open === 'invitation',
    wroteSinceEntered: () => wrote,
    emit: (sequence: string): void => void output.offer(sequence),
    endLine,
  };
}
