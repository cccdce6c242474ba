import { formatTraceLine, recoveryProvider, requireProvider } from '@orion/agent';
import type { Configuration, Orion, OrionOptions, TurnRequest } from '@orion/agent';
import { defined, systemClock, toErrorInfo, type RunEvent } from '@orion/contracts';

import { placeOf } from '../commands/place.ts';
import { openForTurns } from '../commands/with-orion.ts';
import type { CommandContext } from '../process/context.ts';
import { errorLines, inPlace } from '../rendering/error-lines.ts';
import { notStoredLines } from '../rendering/not-stored-line.ts';
import { createTerminalView } from '../rendering/turn-view.ts';
import type { Wording } from '../rendering/wording.ts';
import { plural } from '../terminal/format.ts';
import type { LineKind } from '../terminal/tone.ts';
import type { Asking } from './asking.ts';
import { chatWording, eventInChatWords, inChatWords } from './chat-words.ts';
import type { Face } from './face.ts';
import { addToFacts, inConversation, NO_FACTS, withoutSession, type ChatFacts } from './facts.ts';
import { progressLines } from './plain-progress.ts';
import { confirmPaths, reviewActions, reviewChanges, type ReviewPlace } from './review.ts';
import type { Choices } from './choices.ts';
import { turnScreen } from './turn-screen.ts';

export type ChatSetup = {
  readonly context: CommandContext;
  readonly configuration: Configuration;
  readonly face: Face;
  /** Whether the face redraws nothing. */
  readonly isPlain: boolean;
};

type TurnsOptions = ChatSetup & {
  readonly ask: Asking['ask'];
  /** Of the job that runs now. */
  readonly signal: () => AbortSignal;
  /** The facts have changed. */
  readonly onChange: () => void;
};

/** The turns of a conversation: started as the person chose, shown to their end. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #wording: Wording;
  readonly #reviewer: ReturnType<typeof reviewChanges>;
  readonly #place: ReviewPlace;
  readonly choices: Choices;
  facts: ChatFacts = NO_FACTS;
  /** Tokens of a request and its answer, at most, by model; null where that is not known. */
  readonly #contextLimits = new Map<string | null, number | null>();
  #orion: Promise<Orion> | null = null;

  constructor(options: TurnsOptions) {
    const { context, configuration, face, ask } = options;
    this.#options = options;
    this.#wording = chatWording(placeOf(context, configuration.workspace));
    this.#place = {
      line: (text, tone) => this.line(text, tone),
      whole: (lines) => face.printWhole(lines),
      ask,
      clock: systemClock,
    };
    this.#reviewer = reviewChanges(this.#place);
    const { provider, mode, approve } = configuration;
    this.choices = { model: provider.model ?? null, mode, protocol: null, approve };
  }

  /** The conversation that the next turn continues; null: a new one. */
  get conversationId(): string | null {
    return this.facts.conversationId;
  }

  goTo(conversationId: string | null): void {
    this.facts = inConversation(this.facts, conversationId);
  }

  line(text: string, tone: LineKind = 'notice'): void {
    this.#options.face.print({ kind: 'line', text, tone });
  }

  /** Says what went wrong, and what to do. */
  fail(error: unknown): void {
    for (const line of errorLines(inChatWords(toErrorInfo(error)), this.#wording.place)) {
      this.line(line, 'error');
    }
  }

  /** The runtime, opened by the first call. */
  open(): Promise<Orion> {
    return (this.#orion ??= this.#open());
  }

  #open(): Promise<Orion> {
    const { configuration, signal } = this.#options;
    const provider: OrionOptions['provider'] = (session) => {
      const { model } = this.choices;
      const chosen = {
        ...configuration,
        provider: { ...configuration.provider, ...defined({ model: model ?? undefined }) },
      };
      return session === null ? requireProvider(chosen) : recoveryProvider(configuration);
    };
    return openForTurns(configuration, {
      provider,
      reviewAction: reviewActions(this.#place),
      confirmProtectedPath: confirmPaths(this.#place, signal),
      ...(!configuration.quiet && { onRetry: (retry) => this.line(retryLine(retry), 'faint') }),
      ...(configuration.verbose && {
        onTrace: (event) => this.line(formatTraceLine(event), 'faint'),
      }),
    });
  }

  /** One turn of this conversation. `recover`: the session that is recovered first. */
  async run(
    request: Pick<TurnRequest, 'content' | 'attachments' | 'recover'>,
    signal: AbortSignal,
  ): Promise<void> {
    const orion = await this.open();
    const { mode, protocol } = this.choices;
    const { projectId } = this.#options.configuration;
    await this.show(
      orion.runTurn({
        ...request,
        mode,
        signal,
        approve: this.approve(),
        ...defined({
          projectId: projectId ?? undefined,
          protocol: protocol ?? undefined,
          conversationId: this.conversationId ?? undefined,
        }),
      }),
    );
    if (!signal.aborted) await this.#learnLimit(orion);
  }

  /** Tokens of a request and its answer, at most; null where that is not known. */
  get contextLimit(): number | null {
    return this.#contextLimits.get(this.choices.model) ?? null;
  }

  /** Once for a model, after a turn of it: everything that it takes is loaded then. */
  async #learnLimit(orion: Orion): Promise<void> {
    const { model } = this.choices;
    if (this.#contextLimits.has(model)) return;
    this.#contextLimits.set(model, null);
    const report = await orion.describeContext().catch(() => null);
    this.#contextLimits.set(model, report?.limit ?? null);
  }

  approve(): NonNullable<OrionOptions['approve']> {
    const { approve } = this.choices;
    return approve === 'ask' ? this.#reviewer : approve;
  }

  /** Shows a turn to its end; it fails in the transcript. */
  async show(events: AsyncIterable<RunEvent>): Promise<void> {
    const { configuration, face, isPlain } = this.#options;
    const { quiet, showContent } = configuration;
    const view = createTerminalView({
      screen: turnScreen(face),
      wording: this.#wording,
      quiet,
      showContent,
      now: () => performance.now(),
    });
    const sayProgress = progressLines((line) => this.line(line, 'faint'));
    const price = configuration.settings.prices?.[this.choices.model ?? ''];
    const filesBefore = this.facts.kept.files;
    try {
      for await (const given of events) {
        const now = performance.now();
        this.facts = addToFacts(this.facts, given, now, price);
        void view.show(eventInChatWords(given));
        if (isPlain && !quiet) sayProgress(this.facts.progress, now);
        if (isPlain && given.type === 'done') {
          const files = this.facts.kept.files - filesBefore;
          this.line(
            `Turn ended: ${ENDINGS[given.status]}${files === 0 ? '' : `, ${plural(files, 'file')}`}.`,
          );
        }
        this.#options.onChange();
      }
    } catch (error) {
      this.fail(error);
    } finally {
      view.end();
    }
  }

  /** It was put aside. */
  forgetSession(id: string): void {
    this.facts = withoutSession(this.facts, id);
  }

  /** Saves and ends what is open, and says what is not stored. */
  async close(): Promise<void> {
    const orion = await this.#orion?.catch(() => null);
    if (orion === undefined || orion === null) return;
    await orion.close();
    for (let notice = orion.takeNotice(); notice !== null; notice = orion.takeNotice()) {
      this.line(inPlace(notice, this.#wording.place), 'warning');
    }
    for (const line of notStoredLines(orion.notStored())) this.line(line, 'warning');
  }
}

/** What is waited for while nothing else is to be seen. */
function retryLine({ waitMs, code }: Parameters<NonNullable<OrionOptions['onRetry']>>[0]): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return `${code}: the provider is asked again in ${seconds} s.`;
}

const ENDINGS: Readonly<Record<Extract<RunEvent, { type: 'done' }>['status'], string>> = {
  complete: 'done',
  incomplete: 'not complete',
  stopped: 'stopped by a limit',
  paused: 'paused',
  aborted: 'stopped',
  error: 'failed',
};
