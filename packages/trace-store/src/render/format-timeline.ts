import { cutToColumns } from '@orion/contracts';
import type { JsonObject, JsonValue, TraceEvent } from '@orion/contracts';
import { numberOf, objectOf, textOf } from '../safety/json-values.ts';
import { escapeForTerminal } from './escape-for-terminal.ts';

export type TimelineOptions = {
  /** 80 when left out; never less than 40. */
  readonly columns?: number;
};

const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 40;
const TIME_COLUMNS = 8;
const DURATION_COLUMNS = 8;
const SHOWN_TEXT = 1000;

/** One line of the timeline; the end of an act completes its line instead of adding another. */
type Entry = {
  readonly at: number;
  readonly indent: number;
  readonly name: string;
  facts: string[];
  endedAt: number | null;
  /** Whether it should have an end; a missing one is then pointed out. */
  lasts: boolean;
};

/** With commas. `Intl` could do it, but takes milliseconds to load its tables. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/**
 * The events of one turn for a person to read: a head, then one line for each phase, model call, tool and write, with
 * the time since the first event on the left and the duration on the right.
 *
 * 1. Every event appears, in a line of its own or in the line of the act that it ends.
 * 2. No line is wider than the columns; longer text is cut with an ellipsis.
 * 3. Nothing in it acts on a terminal (R014, R254).
 */
export function formatTimeline(
  events: readonly TraceEvent[],
  options: TimelineOptions = {},
): string {
  const columns = Math.max(MIN_COLUMNS, Math.floor(options.columns ?? DEFAULT_COLUMNS));
  const [first] = events;
  if (first === undefined) return 'Nothing was recorded.\n';
  const timeline = new Timeline();
  for (const event of events) timeline.add(event);
  const lines = [
    ...timeline.head(first).map((line) => cut(line, columns)),
    '',
    ...timeline.entries.map((entry) => formatEntry(entry, first.timestamp, columns)),
  ];
  return `${lines.join('\n')}\n`;
}

class Timeline {
  readonly entries: Entry[] = [];
  readonly #open = new Map<string, Entry>();
  #inputTokens = 0;
  #outputTokens = 0;
  #modelCalls = 0;
  #tools = 0;
  #files = 0;
  #errors = 0;
  #lastAt = 0;
  #status: string | null = null;

  add(event: TraceEvent): void {
    this.#lastAt = Math.max(this.#lastAt, event.timestamp);
    if (event.error !== null) this.#errors += 1;
    const details = objectOf(event.details);
    // The number of a phase is unique within the turn; the cycle may change before the phase ends.
    const phase = String(event.phaseIndex ?? 0);
    const call = textOf(details['callId']) ?? '';
    switch (event.type) {
      case 'turn_started':
        this.#line(event, 0, 'turn started', plainFacts(event));
        return;
      case 'turn_ended':
        this.#status = textOf(details['status']);
        this.#line(event, 0, 'turn ended', [
          textOf(details['status']),
          named('because', details['stopReason']),
        ]);
        return;
      case 'phase_start':
        this.#begin(`phase ${phase}`, event, 0, `phase ${event.phaseIndex ?? '?'}`, [
          textOf(details['phase']),
        ]);
        return;
      case 'phase_end':
        this.#end(`phase ${phase}`, event, 0, 'phase end', [textOf(details['reason'])]);
        return;
      case 'llm_call':
        this.#modelCalls += 1;
        this.#begin(`model ${phase}`, event, 1, 'model', [
          textOf(details['model']),
          details['purpose'] === 'chat' ? null : textOf(details['purpose']),
          counted(details['messages'], 'message'),
          details['tools'] === 0 ? null : counted(details['tools'], 'tool'),
        ]);
        return;
      case 'llm_result': {
        const usage = objectOf(details['usage']);
        this.#inputTokens += numberOf(usage['inputTokens']) ?? 0;
        this.#outputTokens += numberOf(usage['outputTokens']) ?? 0;
        this.#end(`model ${phase}`, event, 1, 'model answer', [
          ...tokens(usage),
          textOf(details['finish']),
        ]);
        return;
      }
      case 'tool_call': {
        const treatment = textOf(details['treatment']);
        const facts = [treatment === 'run' ? null : treatment];
        const name = `tool ${event.toolName ?? '?'}`;
        if (treatment === 'run') {
          this.#tools += 1;
          this.#begin(`tool ${call}`, event, 1, name, facts);
        } else this.#line(event, 1, name, facts);
        return;
      }
      case 'approval_requested':
        this.#begin(approvalKey(details), event, 1, 'asked', [event.summary]);
        return;
      case 'approval_decided':
        this.#end(approvalKey(details), event, 1, 'decided', [
          textOf(details['decision']),
          named('because', details['reason']),
        ]);
        return;
      case 'tool_executed':
        // Its result follows, with the same facts and more.
        return;
      case 'tool_result':
        this.#end(`tool ${call}`, event, 1, `tool ${event.toolName ?? '?'}`, [
          details['success'] === false ? 'failed' : 'ok',
          errorText(event.error),
          details['attempts'] === 1 ? null : counted(details['attempts'], 'attempt'),
          counted(details['contentLength'], 'character'),
        ]);
        return;
      default:
        if (event.type.startsWith('write_session_')) this.#write(event, details);
        else this.#line(event, 1, event.type.replaceAll('_', ' '), plainFacts(event));
    }
  }

  head(first: TraceEvent): string[] {
    const status = this.#status ?? 'not ended';
    const span = duration(this.#lastAt - first.timestamp).trim();
    const counts = [
      plural(this.#modelCalls, 'model call'),
      `${grouped(this.#inputTokens)} tokens in, ${grouped(this.#outputTokens)} out`,
      plural(this.#tools, 'tool'),
      plural(this.#files, 'file'),
      this.#errors === 0 ? null : plural(this.#errors, 'error'),
    ];
    return [
      `turn ${first.requestId ?? '-'}`,
      `${new Date(first.timestamp).toISOString().replace('T', ' ').slice(0, 19)} UTC · ${status} · ${span}`,
      counts.filter((count) => count !== null).join(' · '),
    ];
  }

  #write(event: TraceEvent, details: JsonObject): void {
    const step = event.type.slice('write_session_'.length);
    const key = `write ${event.sessionId ?? ''}`;
    const name = `write ${textOf(details['target']) ?? event.sessionId ?? '?'}`;
    const entry = this.#open.get(key);
    switch (step) {
      case 'started':
      case 'recovered':
        this.#begin(key, event, 0, name, [step === 'recovered' ? 'recovered' : null]);
        return;
      case 'saved': {
        if (entry === undefined) break;
        const bytes = counted(details['bytes'], 'byte');
        if (bytes !== null) entry.facts = [...entry.facts.filter(isNoSave), `saved ${bytes}`];
        return;
      }
      case 'finalize_started':
        if (entry === undefined) break;
        return;
      case 'finalized':
        this.#files += 1;
        if (entry !== undefined) entry.facts = entry.facts.filter(isNoSave);
        this.#end(key, event, 0, name, [
          'finalized',
          counted(details['lines'], 'line'),
          counted(details['bytes'], 'byte'),
        ]);
        return;
      case 'paused':
      case 'discarded':
        this.#end(key, event, 0, name, [step, textOf(details['code'])]);
        return;
    }
    this.#line(event, 1, `write ${step.replaceAll('_', ' ')}`, plainFacts(event));
  }

  #line(event: TraceEvent, indent: number, name: string, facts: readonly Fact[]): Entry {
    const { timestamp: at } = event;
    const entry = { at, indent, name, facts: given(facts), endedAt: null, lasts: false };
    this.entries.push(entry);
    return entry;
  }

  #begin(
    key: string,
    event: TraceEvent,
    indent: number,
    name: string,
    facts: readonly Fact[],
  ): void {
    const entry = this.#line(event, indent, name, facts);
    entry.lasts = true;
    this.#open.set(key, entry);
  }

  #end(key: string, event: TraceEvent, indent: number, name: string, facts: readonly Fact[]): void {
    const entry = this.#open.get(key);
    if (entry === undefined) {
      this.#line(event, indent, name, facts);
      return;
    }
    this.#open.delete(key);
    // The result matters more than the beginning, but the subject comes first.
    const [subject, ...beginning] = entry.facts;
    entry.facts = [...given([subject ?? null]), ...given(facts), ...beginning];
    entry.endedAt = event.timestamp;
  }
}

function approvalKey(details: JsonObject): string {
  return `approval ${textOf(details['approvalId']) ?? ''}`;
}

/** Only the last save is shown, and none once the write has ended. */
function isNoSave(fact: string): boolean {
  return !fact.startsWith('saved ');
}

function formatEntry(entry: Entry, start: number, columns: number): string {
  const time = `+${((entry.at - start) / 1000).toFixed(3)}`.padStart(TIME_COLUMNS);
  const ended =
    entry.endedAt === null ? (entry.lasts ? 'no end' : '') : duration(entry.endedAt - entry.at);
  const room = columns - time.length - 2 - (ended === '' ? 0 : DURATION_COLUMNS + 2);
  const text = `${'  '.repeat(entry.indent)}${[entry.name, entry.facts.join(', ')].filter((part) => part !== '').join('  ')}`;
  const shown = cut(text, room);
  if (ended === '') return `${time}  ${shown}`.trimEnd();
  return `${time}  ${shown}${' '.repeat(room - cutToColumns(shown, room).width)}  ${ended.padStart(DURATION_COLUMNS)}`;
}

type Fact = string | null;

function given(facts: readonly Fact[]): string[] {
  return facts.filter((fact) => fact !== null).filter((fact) => fact !== '');
}

/** The facts of an event that this view has no form for. */
function plainFacts(event: TraceEvent): Fact[] {
  const details = objectOf(event.details);
  return [
    event.toolName,
    event.summary,
    errorText(event.error),
    ...Object.entries(details)
      .slice(0, 8)
      .map(([key, value]) =>
        value === undefined || value === null || typeof value === 'object'
          ? null
          : `${key}=${String(value).slice(0, SHOWN_TEXT)}`,
      ),
  ];
}

function errorText(error: JsonValue): string | null {
  if (error === null) return null;
  if (typeof error === 'string') return error;
  const { code, message } = objectOf(error);
  const texts = given([textOf(code), textOf(message)]);
  return texts.length === 0 ? JSON.stringify(error).slice(0, SHOWN_TEXT) : texts.join(': ');
}

function tokens(usage: JsonObject): Fact[] {
  const input = numberOf(usage['inputTokens']);
  const output = numberOf(usage['outputTokens']);
  const cached = numberOf(usage['cachedTokens']) ?? 0;
  const reasoning = numberOf(usage['reasoningTokens']) ?? 0;
  if (input === null || output === null) return [];
  return [
    `${grouped(input)} in${cached > 0 ? ` (${grouped(cached)} cached)` : ''}`,
    `${grouped(output)} out${reasoning > 0 ? ` (${grouped(reasoning)} reasoning)` : ''}`,
  ];
}

function counted(value: JsonValue | undefined, noun: string): string | null {
  const count = numberOf(value);
  return count === null ? null : plural(count, noun);
}

function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function named(name: string, value: JsonValue | undefined): string | null {
  const text = textOf(value);
  return text === null ? null : `${name} ${text}`;
}

function duration(milliseconds: number): string {
  const shown = Math.max(0, milliseconds);
  if (shown < 1_000) return `${shown} ms`;
  if (shown < 60_000) return `${(shown / 1_000).toFixed(1)} s`;
  const seconds = Math.round(shown / 1_000);
  if (seconds < 3_600)
    return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** The text, escaped and cut to so many columns. */
function cut(text: string, columns: number): string {
  // Escaping only makes text longer, so nothing beyond this could be shown.
  const escaped = escapeForTerminal(text.slice(0, SHOWN_TEXT));
  if (cutToColumns(escaped, columns).text === escaped) return escaped;
  return `${cutToColumns(escaped, columns - 1).text.trimEnd()}…`;
}
