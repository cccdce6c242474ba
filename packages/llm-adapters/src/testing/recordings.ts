import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { LlmEvent } from '@orion/contracts';

import type { FormatName } from './providers.ts';

/** One recorded answer and what it means, as `expected.json` lists them. */
export type Recording = {
  readonly file: string;
  readonly protocol: FormatName;
  /** `sse`: the body as it came. `json-lines`: its payloads, one a line. */
  readonly framing: 'sse' | 'json-lines';
  readonly text: string;
  readonly reasoning: string;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments_raw: string;
    readonly arguments_valid: boolean;
    readonly kind?: string;
  }[];
  /** In the provider's own words; null without one. */
  readonly finish_reason: string | null;
  readonly has_error: boolean;
  /** Of our own recordings: the error's code. */
  readonly error_code?: string;
};

export type LoadedRecording = Recording & { readonly body: Buffer };

export async function loadRecordings(directory: string): Promise<readonly LoadedRecording[]> {
  const index = JSON.parse(await readFile(join(directory, 'expected.json'), 'utf8')) as {
    readonly streams: readonly Recording[];
  };
  return await Promise.all(
    index.streams.map(async (recording) => ({
      ...recording,
      body: frame(recording, await readFile(join(directory, recording.file))),
    })),
  );
}

function frame(recording: Recording, raw: Buffer): Buffer {
  if (recording.framing === 'sse') return raw;
  const lines = raw
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '');
  const events = lines.map((line) => {
    if (recording.protocol === 'openai-chat') return `data: ${line}\n\n`;
    const { type } = JSON.parse(line) as { readonly type: string };
    return `event: ${type}\ndata: ${line}\n\n`;
  });
  const body = events.join('');
  const lacksEnd = recording.protocol === 'openai-chat' && !body.includes('[DONE]');
  return Buffer.from(lacksEnd ? `${body}data: [DONE]\n\n` : body);
}

/** What a recording means, in words that both sides can say. */
export type Meaning = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly object[];
  readonly end: string;
};

/** The providers' finish reasons in the words of `LlmEvent`. */
const REASONS: Readonly<Record<string, string>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  completed: 'stop',
  tool_calls: 'tool_calls',
  tool_use: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  incomplete: 'length',
  content_filter: 'refusal',
  refusal: 'refusal',
  pause_turn: 'pause',
};

export function expectedMeaning(recording: Recording): Meaning {
  const named = REASONS[recording.finish_reason ?? 'stop'] ?? 'unknown';
  const finish = named === 'stop' && recording.tool_calls.length > 0 ? 'tool_calls' : named;
  return {
    text: recording.text,
    reasoning: recording.reasoning,
    // Of a message that failed no call is handed over, whole or not.
    calls: recording.has_error
      ? []
      : recording.tool_calls.map((call) => ({
          id: call.id,
          name: call.name,
          arguments: call.arguments_raw,
          complete: call.arguments_valid,
        })),
    end: recording.has_error ? 'error' : finish,
  };
}

export function meaningOf(events: readonly LlmEvent[]): Meaning {
  const last = events.at(-1);
  return {
    text: events.map((event) => (event.type === 'text-delta' ? event.text : '')).join(''),
    reasoning: events.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join(''),
    calls: events.flatMap((event) => {
      if (event.type !== 'tool-call-end') return [];
      const { id, name, state } = event.call;
      return [{ id, name, arguments: event.call.arguments, complete: state === 'complete' }];
    }),
    end: last?.type === 'finish' ? last.reason : (last?.type ?? 'nothing'),
  };
}

/** Every place in a body after which an event has ended. */
export function eventEnds(body: Buffer): readonly number[] {
  const ends: number[] = [];
  for (let end = body.indexOf('\n\n'); end !== -1; end = body.indexOf('\n\n', end + 2)) {
    const next = end + 2;
    // A comment is not an event.
    const start = ends.at(-1) ?? 0;
    if (body.subarray(start, end).includes('data:')) ends.push(next);
  }
  return ends;
}
