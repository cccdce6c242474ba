import { fileURLToPath } from 'node:url';

import type { LlmEvent } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import { createRandom } from './scripted/random.ts';
import type { Answer } from './scripted/byte-server.ts';
import { createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import { eventEnds, expectedMeaning, loadRecordings, meaningOf } from './testing/recordings.ts';
import { ONCE, QUESTION, collect, errorOf, serve } from './testing/streams.ts';

/**
 * Recorded answers, sent through a real socket to the real SDKs: whole, byte by byte, at random splittings, with
 * other line ends, and cut after every event. The project's own recordings always run; those in
 * ORION_CONFORMANCE_DIR, of real providers, where that is set.
 */
const OWN = fileURLToPath(new URL('../fixtures', import.meta.url));
const elsewhere = process.env['ORION_CONFORMANCE_DIR'];
const seed = Number(process.env['ORION_CONFORMANCE_SEED'] ?? Date.now() % 1_000_000);

/** Where recordings are the point: twenty splittings, and a cut after every event. Otherwise a share of both. */
const isWhole = elsewhere !== undefined && elsewhere !== '';
const SPLITTINGS = isWhole ? 20 : 3;
const MOST_ENDS = isWhole ? Number.POSITIVE_INFINITY : 16;
const MOST_RESETS = isWhole ? Number.POSITIVE_INFINITY : 5;
/** A piece of its own for each byte takes a turn of the event loop each. */
const LARGEST_FOR_SINGLE_BYTES = 120_000;
/** Tens of thousands of pieces through a socket, on a machine that may be busy with other things. */
const TIME_LIMIT_MS = 180_000;
const LARGEST_PIECES = [2, 7, 50, 400, 3000];

for (const [name, directory] of [
  ['recordings written for this project', OWN],
  ...(elsewhere === undefined || elsewhere === ''
    ? []
    : [['recordings of real providers', elsewhere] as const]),
] as const) {
  describe(name, { timeout: TIME_LIMIT_MS }, async () => {
    for (const recording of await loadRecordings(directory)) {
      const { body, protocol } = recording;
      const expected = expectedMeaning(recording);
      describe(recording.file, () => {
        test('whole', async () => {
          const events = await play(protocol, { pieces: [body] });
          expect(meaningOf(events)).toEqual(expected);
          if (recording.error_code !== undefined)
            expect(errorOf(events).code).toBe(recording.error_code);
        });

        test('byte by byte', { tags: ['long'] }, async ({ skip }) => {
          skip(body.length > LARGEST_FOR_SINGLE_BYTES, 'too large for single bytes');
          const events = await play(protocol, { pieces: cut(body, () => 1) });
          expect(meaningOf(events)).toEqual(expected);
        });

        test(`at ${SPLITTINGS} random splittings`, async () => {
          for (let splitting = 0; splitting < SPLITTINGS; splitting += 1) {
            const random = createRandom(seed + splitting);
            const largest = LARGEST_PIECES[splitting % LARGEST_PIECES.length] ?? 1;
            // Small pieces of a large body would only repeat what single bytes show.
            const size = Math.max(largest, Math.ceil(body.length / 1500));
            const pieces = cut(body, () => 1 + Math.floor(random() * size));
            expect(meaningOf(await play(protocol, { pieces })), `seed ${seed + splitting}`).toEqual(
              expected,
            );
          }
        });

        test('with CRLF', { tags: ['long'] }, async () => {
          const crlf = Buffer.from(body.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
          expect(meaningOf(await play(protocol, { pieces: [crlf] }))).toEqual(expected);
          const pieces = cut(crlf, () => 97);
          expect(meaningOf(await play(protocol, { pieces }))).toEqual(expected);
        });

        test('cut after every event: an orderly end without an end mark, and a reset', async () => {
          const places = sample(eventEnds(body), MOST_ENDS);
          for (const place of places) {
            const pieces = [body.subarray(0, place)];
            const orderly = await play(protocol, { pieces });
            if (!endsHere(protocol, pieces[0] ?? body))
              expect(meaningOf(orderly).end, `orderly end at ${place}`).toBe('error');
            const { text } = meaningOf(orderly);
            // What could have become a think tag is text when nothing follows.
            if (!'<think>'.startsWith(text.trimStart()))
              expect(expected.text.slice(0, text.length)).toBe(text);
          }
          for (const place of sample(places, MOST_RESETS)) {
            const reset = await play(protocol, {
              pieces: [body.subarray(0, place)],
              end: 'reset',
            });
            if (!hasEndMark(protocol, body.subarray(0, place)))
              expect(meaningOf(reset).end, `reset at ${place}`).toBe('error');
          }
        });
      });
    }
  });
}

async function play(protocol: FormatName, answer: Answer): Promise<LlmEvent[]> {
  const server = await serve(answer);
  try {
    const adapter = createAdapterOf(protocol, { baseUrl: server.url, retry: ONCE });
    return await collect(adapter.sendMessagesStreaming(QUESTION, {}));
  } finally {
    await server.close();
  }
}

function cut(bytes: Buffer, nextSize: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + nextSize();
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}

/** At most so many, evenly spread; the first and the last are always among them. */
function sample<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => items[Math.round(index * step)] as Item);
}

/** After this mark nothing is read any more, so that not even a reset is noticed. */
function hasEndMark(protocol: FormatName, body: Buffer): boolean {
  const text = body.toString();
  switch (protocol) {
    case 'openai-chat':
      return text.includes('[DONE]');
    case 'openai-responses':
      return /"type":"response\.(completed|incomplete|failed)"/.test(text);
    case 'anthropic-messages':
      return text.includes('"type":"message_stop"');
    default:
      return protocol satisfies never;
  }
}

/** Chat completions may also end with a finish reason and an orderly end. */
function endsHere(protocol: FormatName, body: Buffer): boolean {
  if (hasEndMark(protocol, body)) return true;
  return protocol === 'openai-chat' && /"finish_reason": ?"/.test(body.toString());
}
