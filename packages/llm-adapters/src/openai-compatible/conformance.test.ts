import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { callsOf, merged, receive, textOf } from '../testing/streams.ts';

/** Recordings of real providers, which are not part of the repository. */
const directory = process.env['ORION_CONFORMANCE_DIR'];

type Recording = {
  readonly file: string;
  readonly protocol: string;
  readonly framing: 'sse' | 'json-lines';
  readonly text: string;
  readonly reasoning: string;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments_raw: string;
    readonly arguments_valid: boolean;
  }[];
  readonly finish_reason: string | null;
  readonly has_error: boolean;
};

const LARGEST_FOR_SINGLE_BYTES = 30_000;

describe.skipIf(directory === undefined)('recordings of real providers', async () => {
  const root = directory ?? '.';
  const index =
    directory === undefined
      ? '{"streams":[]}'
      : await readFile(join(root, 'expected.json'), 'utf8');
  const recordings = (JSON.parse(index) as { readonly streams: readonly Recording[] }).streams;

  for (const recording of recordings.filter(({ protocol }) => protocol === 'openai-chat')) {
    for (const size of [Number.POSITIVE_INFINITY, 500, 50, 7, 1]) {
      test(`${recording.file} in pieces of at most ${size} bytes`, async ({ skip }) => {
        const bytes = await readBody(root, recording);
        if (size === 1 && bytes.length > LARGEST_FOR_SINGLE_BYTES) skip('too many pieces');
        const events = merged(await receive({ pieces: cut(bytes, size) }));

        expect(textOf(events)).toBe(recording.text);
        expect(
          events.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join(''),
        ).toBe(recording.reasoning);
        if (recording.has_error) {
          expect(events.at(-1)?.type).toBe('error');
          return;
        }
        expect(events.at(-1)).toEqual({ type: 'finish', reason: recording.finish_reason });
        expect(callsOf(events)).toMatchObject(
          recording.tool_calls.map((call) => ({
            id: call.id,
            name: call.name,
            arguments: call.arguments_raw,
            state: call.arguments_valid ? 'complete' : expect.stringMatching(/^(cut|malformed)$/),
          })),
        );
      });
    }
  }
});

async function readBody(root: string, recording: Recording): Promise<Buffer> {
  const raw = await readFile(join(root, recording.file));
  if (recording.framing === 'sse') return raw;
  const lines = raw
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '');
  const body = lines.map((line) => `data: ${line}\n\n`).join('');
  return Buffer.from(body.includes('[DONE]') ? body : `${body}data: [DONE]\n\n`);
}

function cut(bytes: Buffer, largest: number): Buffer[] {
  if (largest === Number.POSITIVE_INFINITY) return [bytes];
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + Math.floor(Math.random() * largest);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}
