import type {
  InvalidPlace,
  SessionMetadata,
  SessionRecord,
  WriteOperation,
} from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';

import { advance, createSession, recordOf, restoreSession } from '../advance.ts';
import { stateNameOf } from '../control.ts';
import type { MessageEnd } from '../control.ts';
import type {
  SessionEffect,
  SessionInput,
  SessionSettings,
  TimerName,
  WriteSession,
} from '../session.ts';
import { appendToSummary, createSummary, restartSummary } from '../text/content-summary.ts';
import type { ContentSummary } from '../text/content-summary.ts';
import { createDoneScan, endDoneScan, scanForDone } from '../text/markers/done-scan.ts';

export const DEFAULTS: SessionSettings = {
  idleMs: 2000,
  maxIdlePrompts: 3,
  saveLines: 50,
  saveMs: 5000,
  maxBytes: 64 * 1024 * 1024,
  doneMode: 'terminal',
  doneSettleMs: 250,
  strict: false,
  stripFence: 'auto',
  seam: 'ask',
  askOmissions: true,
  signalsMessageEnd: true,
};

export const SESSION_ID = '7f3a0000-0000-4000-8000-000000000000';

export function metadataFor(
  target: string,
  operation: WriteOperation = 'create',
  finalNewline = true,
): SessionMetadata {
  return {
    version: 1,
    session_id: SESSION_ID,
    intent: 'a test',
    target_file: target,
    operation,
    created_at: '2026-01-01T00:00:00.000Z',
    end_marker: 'DONE 7f3a',
    final_newline: finalNewline,
    target: {
      path: target,
      realPath: `/ws/${target}`,
      exists: false,
      sha256: null,
      bytes: 0,
      mode: 0,
      eol: 'none',
      bom: false,
    },
  };
}

export type HarnessOptions = {
  readonly target?: string;
  readonly operation?: WriteOperation;
  readonly finalNewline?: boolean;
  /** More of the metadata that begin recorded. */
  readonly metadata?: Partial<SessionMetadata>;
  readonly settings?: Partial<SessionSettings>;
  /** Called with every input, before its effects are carried out. */
  readonly observe?: (input: SessionInput, effects: readonly SessionEffect[]) => void;
  /** The saved content of a recovered session. */
  readonly recovered?: { readonly content: string; readonly record: SessionRecord | null };
};

/**
 * A session with everything that the driver provides, but in memory: the appended content, the text that is held or set
 * aside, timers on a fake clock, and the prompts.
 */
export class SessionHarness {
  session: WriteSession;
  readonly clock: FakeClock = createFakeClock();
  readonly prompts: string[] = [];
  readonly warnings: string[] = [];
  content = '';
  held = '';
  chat = '';
  rewinds: number[] = [];
  saves = 0;
  resends = 0;
  refusals: string[] = [];
  /** The file, once the session is handed to the commit. */
  file: string | null = null;
  stopped = false;
  /** Whether the model may write its reasoning into its text. */
  thinkTags = false;
  ended: 'removed' | 'discarded' | 'released' | null = null;
  #aside = '';
  readonly #timers = new Map<TimerName, () => void>();
  readonly #observe: HarnessOptions['observe'];

  constructor(options: HarnessOptions = {}) {
    this.#observe = options.observe;
    const metadata = {
      ...metadataFor(
        options.target ?? 'a.txt',
        options.operation ?? 'create',
        options.finalNewline ?? true,
      ),
      ...options.metadata,
    };
    const settings = { ...DEFAULTS, ...options.settings };
    if (options.recovered === undefined) {
      const { session, effects } = createSession(metadata, settings);
      this.session = session;
      this.#run(effects);
    } else {
      const { content, record } = options.recovered;
      this.content = content;
      this.session = restoreSession({
        metadata,
        settings,
        record,
        summary: summaryOf(content, record?.content_start ?? 0),
        innerDone: endDoneScan(scanForDone(createDoneScan(), content)),
      });
      this.send({ type: 'recover' });
    }
  }

  /** What is kept beside the file: content outside of its bounds, then what was set aside. */
  get aside(): string {
    const { content_start: start = 0, content_end: end } = this.record;
    const behind = end === undefined ? '' : bytesOf(this.content, end);
    return bytesOf(this.content, 0, start) + behind + this.#aside;
  }

  get state(): string {
    return stateNameOf(this.session.control);
  }

  get record(): SessionRecord {
    return recordOf(this.session);
  }

  send(input: SessionInput): void {
    const { session, effects } = advance(this.session, input);
    this.session = session;
    this.#observe?.(input, effects);
    this.#run(effects);
  }

  /** Sends a whole message of the model, in the given pieces. */
  message(pieces: string | readonly string[], end: MessageEnd = { kind: 'stop' }): void {
    this.stopped = false;
    this.send({ type: 'message_started', thinkTags: this.thinkTags });
    for (const text of typeof pieces === 'string' ? [pieces] : pieces) {
      if (this.stopped) return;
      this.send({ type: 'text', text });
    }
    if (!this.stopped) this.send({ type: 'message_ended', end });
  }

  async wait(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
  }

  #run(effects: readonly SessionEffect[]): void {
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: SessionEffect): void {
    switch (effect.type) {
      case 'append':
        this.content += effect.text;
        return;
      case 'hold':
        this.held += effect.text;
        return;
      case 'discard_held':
        this.held = '';
        return;
      case 'set_aside_held':
        this.#aside += this.held;
        this.held = '';
        return;
      case 'replay_held': {
        const text = this.held;
        for (const character of text) this.send({ type: 'held_text', text: character });
        this.send({ type: 'held_end' });
        return;
      }
      case 'set_aside':
        this.#aside += effect.text;
        return;
      case 'show':
        this.chat += bytesOf(this.content, effect.start, effect.end);
        return;
      case 'start_over':
        this.#aside += this.content;
        this.content = '';
        return;
      case 'rewind':
        this.rewinds.push(effect.toOffset);
        return;
      case 'chat':
        this.chat += effect.text;
        return;
      case 'save':
        this.saves += 1;
        return;
      case 'start_timer': {
        this.#timers.get(effect.timer)?.();
        const { timer } = effect;
        this.#timers.set(
          timer,
          this.clock.schedule(effect.milliseconds, () => this.send({ type: 'timer', timer })),
        );
        return;
      }
      case 'cancel_timer':
        this.#timers.get(effect.timer)?.();
        this.#timers.delete(effect.timer);
        return;
      case 'stop_message':
        this.stopped = true;
        return;
      case 'send_prompt':
        this.prompts.push(effect.prompt);
        return;
      case 'resend':
        this.resends += 1;
        return;
      case 'examine': {
        const text = bytesOf(this.content, effect.start, effect.end);
        this.send({
          type: 'examined',
          summary: appendToSummary(createSummary(effect.start), text),
        });
        return;
      }
      case 'finalize':
        this.file =
          bytesOf(this.content, effect.start, effect.end ?? undefined) + effect.lineEnding;
        return;
      case 'release':
        this.ended = 'released';
        return;
      case 'remove':
        this.ended = 'removed';
        return;
      case 'discard':
        this.ended = 'discarded';
        return;
      case 'warn':
        this.warnings.push(effect.message);
        return;
      case 'refuse':
        this.refusals.push(effect.code);
        return;
      case 'pause':
      case 'trace':
        return;
      default:
        effect satisfies never;
    }
  }
}

/** The summary as a recovery computes it. */
function summaryOf(content: string, fileStart: number): ContentSummary {
  const before = appendToSummary(createSummary(), bytesOf(content, 0, fileStart));
  const file = fileStart === 0 ? before : restartSummary(before);
  return appendToSummary(file, bytesOf(content, fileStart, undefined));
}

function bytesOf(text: string, start: number, end?: number): string {
  return Buffer.from(text, 'utf8').subarray(start, end).toString('utf8');
}

/** A NUL that was found in a text of one line. */
export function invalidPlace(index: number, offset: number): InvalidPlace {
  return {
    index,
    position: offset,
    byte_offset: offset,
    byte_length: 1,
    line: 1,
    column: offset + 1,
    code: 'nul',
    context: { before: 'a', invalid: '\\0', after: 'b' },
  };
}
