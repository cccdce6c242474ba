import { toErrorInfo, type ErrorCode } from '@orion/contracts';

import { exitCodeOf, type ExitCode } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { limitStop } from '../process/interruption.ts';
import { leaveProcess } from '../process/leave-process.ts';
import { completeTyped } from './commands/complete.ts';
import { createAsking, type Asking } from './asking.ts';
import { COMMANDS, runCommand, runsBeside } from './commands/table.ts';
import { advance, STARTING } from './controller.ts';
import type { ChatEffect, ChatEvent, ChatJob, ChatState, Waiting } from './controller.ts';
import type { Completer, Face, FaceInput } from './face.ts';
import { handBack } from './hand-back.ts';
import type { FaceOptions } from './open-face.ts';
import { createMentionCompleter } from './mentions.ts';
import { sendPrompt } from './send-prompt.ts';
import { PromptStore } from './prompt-store.ts';
import { startConversation } from './start.ts';
import type { ChatTools } from './tools.ts';
import { Turns, type ChatSetup } from './turns.ts';
import { readTyped } from './typed-input.ts';
import { viewOf } from './view.ts';

/** How often the view follows a file that is being written. */
const REDRAW_MS = 100;
const TICK_MS = 1000;

const WORDS: Readonly<Record<Extract<ChatEffect, { type: 'say' }>['what'], string>> = {
  stopping: 'Stopping: what has arrived is being saved. Ctrl-C leaves.',
  again_to_leave: 'Ctrl-C again leaves.',
  leaving: 'Leaving: what has arrived is being saved. Ctrl-C again ends at once.',
};

/** What a face asks a conversation. */
export type FaceNeeds = Pick<FaceOptions, 'complete' | 'history'>;

/** Talks with the person until they leave. */
export async function converse({
  openFace,
  ...setup
}: Omit<ChatSetup, 'face'> & {
  readonly openFace: (needs: FaceNeeds) => Promise<Face>;
}): Promise<CommandResult> {
  let chat: Chat | null = null;
  const face = await openFace({
    complete: async (...typed) => (await chat?.complete(...typed)) ?? null,
    history: async () => (await chat?.history()) ?? [],
  });
  chat = new Chat({ ...setup, face });
  return talk(chat);
}

async function talk(chat: Chat): Promise<CommandResult> {
  const onInterrupt = (): void => chat.interrupt('');
  const onEnd = (): void => chat.leave();
  const onCrash = (error: unknown): void => chat.crash(error);
  process.on('SIGINT', onInterrupt).on('SIGTERM', onEnd).on('SIGHUP', onEnd);
  process.on('uncaughtException', onCrash);
  try {
    return { exitCode: await chat.run() };
  } finally {
    process.off('SIGINT', onInterrupt).off('SIGTERM', onEnd).off('SIGHUP', onEnd);
    process.off('uncaughtException', onCrash);
  }
}

/** Carries out what the controller decides; what goes on is the controller's state, and nothing else. */
class Chat {
  readonly #setup: ChatSetup;
  readonly #asking: Asking;
  readonly #turns: Turns;
  readonly #completeMention = createMentionCompleter(async () => {
    const orion = await this.#turns.open();
    return (await orion.listFiles()).files;
  });
  readonly #prompts = new PromptStore(() => this.#turns.open());
  readonly #left = Promise.withResolvers<void>();
  /** What runs beside the job. */
  readonly #beside = new Set<Promise<void>>();
  readonly #leaving = new AbortController();
  #state: ChatState = STARTING;
  #job: { readonly cancel: AbortController; readonly ended: Promise<void> } | null = null;
  #busySince: number | null = null;
  #shownAt = Number.NEGATIVE_INFINITY;
  #tick: NodeJS.Timeout | null = null;
  #lastKey = 0;
  /** Nothing is left to be saved: only the terminal may be slow. */
  #isOver = false;
  /** Why the conversation cannot go on. */
  #failure: ErrorCode | null = null;

  constructor(setup: ChatSetup) {
    this.#setup = setup;
    this.#asking = createAsking((event) => this.#dispatch(event));
    this.#turns = new Turns({
      ...setup,
      ask: (question, signal) => this.#asking.ask(question, signal),
      signal: () => this.#job?.cancel.signal ?? this.#leaving.signal,
      onChange: () => this.#redraw(),
    });
  }

  async run(): Promise<ExitCode> {
    const { face } = this.#setup;
    this.#carryOut({ type: 'run', job: { kind: 'start' } });
    const inputs = this.#readInputs();
    try {
      await this.#left.promise;
    } finally {
      if (this.#tick !== null) clearInterval(this.#tick);
      await face.close();
    }
    await inputs;
    return this.#exitCode();
  }

  interrupt(draft: string): void {
    this.#dispatch({ type: 'interrupt', draft, at: performance.now() });
  }

  leave(): void {
    this.#dispatch({ type: 'leave' });
  }

  /** Why nothing can go on is said; what was saved stays. */
  crash(error: unknown): void {
    this.#failure = toErrorInfo(error).code;
    this.#turns.fail(error);
    this.leave();
  }

  history(): Promise<readonly string[]> {
    return this.#prompts.history();
  }

  readonly complete: Completer = async (draft, caret, signal) =>
    (await completeTyped(await this.#tools(), COMMANDS, draft.slice(0, caret))) ??
    this.#completeMention(draft, caret, signal);

  async #readInputs(): Promise<void> {
    for await (const input of this.#setup.face.inputs) this.#take(input);
    this.leave();
  }

  #take(input: FaceInput): void {
    switch (input.type) {
      case 'submitted':
        return this.#submit(input.text, null);
      case 'interrupt':
        return this.interrupt(input.draft);
      case 'end':
        return this.leave();
      case 'stop':
      case 'recall':
        return this.#dispatch({ type: input.type });
      case 'answered': {
        const { id, value, text } = input;
        const answer = value === null ? null : { value, text };
        return this.#dispatch({ type: 'answered', id, answer });
      }
      case 'edit':
        return this.#runBeside(this.#edit(input.draft));
      default:
        return input satisfies never;
    }
  }

  async #edit(draft: string): Promise<void> {
    const { face, context } = this.#setup;
    // Loaded by nobody who does not edit.
    const { editExternally } = await import('./external-editor.ts');
    const edited = await editExternally(draft, context, face);
    if (edited.kind === 'edited') face.setDraft(edited.text);
    else this.#turns.line(edited.message, 'warning');
  }

  #submit(typed: string, storedId: string | null): void {
    const input = readTyped(typed);
    if (input.kind === 'empty') return;
    this.#lastKey += 1;
    const waiting: Waiting = { key: this.#lastKey, input, storedId };
    const isBeside = input.kind === 'command' && runsBeside(input.name);
    this.#dispatch({ type: isBeside ? 'sent_beside' : 'sent', waiting });
  }

  #dispatch(event: ChatEvent): void {
    const { state, effects } = advance(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    this.#draw();
  }

  #carryOut(effect: ChatEffect): void {
    switch (effect.type) {
      case 'run':
        return this.#startJob(effect.job);
      case 'run_beside':
        return this.#runBeside(this.#runTyped(effect.waiting, this.#leaving.signal));
      case 'cancel':
        return this.#job?.cancel.abort();
      case 'settle':
        return this.#asking.settle(effect.id, effect.answer);
      case 'store':
        return this.#prompts.store(effect.waiting, this.#turns.facts.conversationId);
      case 'unstore':
        return this.#runBeside(this.#prompts.take(effect.waiting).then(() => undefined));
      case 'hand_back':
        handBack(effect.waiting, this.#setup);
        return this.#runBeside(this.#keepInHistory(effect.waiting));
      case 'set_draft':
        return this.#setup.face.setDraft(effect.text);
      case 'remember':
        return this.#runBeside(this.#prompts.remember(effect.text));
      case 'say':
        return this.#turns.line(WORDS[effect.what], 'warning');
      case 'leave':
        return this.#left.resolve(this.#endAll());
      case 'exit':
        return this.#exit(leaveProcess);
      default:
        return effect satisfies never;
    }
  }

  #startJob(job: ChatJob): void {
    const cancel = new AbortController();
    this.#busySince = job.kind === 'start' ? null : performance.now();
    this.#tick ??= setInterval(() => this.#draw(), TICK_MS);
    const ended = this.#runJob(job, cancel.signal).then(() => {
      this.#job = null;
      this.#busySince = null;
      if (this.#tick !== null) clearInterval(this.#tick);
      this.#tick = null;
      this.#dispatch({ type: 'job_ended' });
    });
    this.#job = { cancel, ended };
  }

  /** Never rejects. */
  async #runJob(job: ChatJob, signal: AbortSignal): Promise<void> {
    if (job.kind === 'typed') return this.#runTyped(job.waited, signal);
    try {
      await startConversation(await this.#tools(), signal);
    } catch (error) {
      if (!signal.aborted) this.crash(error);
    }
  }

  /** Never rejects. */
  async #runTyped(waiting: Waiting, signal: AbortSignal): Promise<void> {
    const { input } = waiting;
    try {
      const tools = await this.#tools();
      if (input.kind === 'command') {
        this.#setup.face.print({ kind: 'prompt', text: input.typed, attached: [] });
        await runCommand(tools, input, signal);
      } else if (await this.#prompts.take(waiting)) {
        this.#runBeside(this.#prompts.remember(input.typed));
        await sendPrompt(tools, input.text, signal);
      } else {
        tools.line('This prompt was sent by another process.', 'warning');
      }
    } catch (error) {
      if (!signal.aborted) this.#turns.fail(error);
    }
  }

  /** In this order, so that a crash in between loses nothing. */
  async #keepInHistory(waited: readonly Waiting[]): Promise<void> {
    for (const waiting of waited.filter(({ input }) => input.kind === 'prompt')) {
      await this.#prompts.remember(waiting.input.typed);
      await this.#prompts.take(waiting);
    }
  }

  #runBeside(running: Promise<void>): void {
    const settled = running
      .catch((error: unknown) => this.#turns.fail(error))
      .finally(() => this.#beside.delete(settled));
    this.#beside.add(settled);
  }

  async #tools(): Promise<ChatTools> {
    const orion = await this.#turns.open();
    return {
      ...this.#setup,
      orion,
      turns: this.#turns,
      commands: COMMANDS,
      line: (text, tone) => this.#turns.line(text, tone),
      ask: (question, signal) => this.#asking.ask(question, signal),
      waitedEarlier: () => this.#prompts.earlier(),
      send: (typed, storedId) => this.#submit(typed, storedId ?? null),
      leave: () => this.leave(),
    };
  }

  /** Ends in order: within two seconds, or five while a file is being changed. */
  async #endAll(): Promise<void> {
    limitStop({
      isCommitting: () => this.#turns.facts.committing,
      kill: () => this.#exit(this.#isOver ? leaveProcess : killProcess),
    });
    this.#leaving.abort();
    const draft = this.#setup.face.draft();
    if (draft.trim() !== '') await this.#prompts.remember(draft);
    await this.#turns.close();
    await this.#job?.ended;
    await Promise.all(this.#beside);
    this.#isOver = true;
  }

  /** Without waiting for anything but the terminal's own state. */
  #exit(end: (exitCode: ExitCode) => void): void {
    void this.#setup.face.close();
    end(this.#exitCode());
  }

  #exitCode(): ExitCode {
    return exitCodeOf({
      status: null,
      stopReason: null,
      errorCode: this.#failure,
      sessionOpen: this.#turns.facts.unfinished.length > 0,
      interrupted: false,
    });
  }

  /** Follows a file that is being written, as often as a person can read it. */
  #redraw(): void {
    if (performance.now() - this.#shownAt >= REDRAW_MS) this.#draw();
  }

  #draw(): void {
    const now = performance.now();
    this.#shownAt = now;
    const { facts, choices } = this.#turns;
    const status = {
      model: choices.model ?? this.#setup.configuration.provider.type ?? '',
      mode: choices.mode,
      contextLimit: this.#turns.contextLimit,
    };
    this.#setup.face.show(viewOf(this.#state, facts, status, { busySince: this.#busySince, now }));
  }
}

/** Nothing can delay it; what has arrived is saved. */
function killProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
