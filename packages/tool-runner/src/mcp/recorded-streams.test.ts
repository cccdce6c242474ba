import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';

import type { ToolProgress } from '@orion/contracts';
import { expect, test } from 'vitest';

import { client, CONTEXT, never, web } from './testing/made-servers.ts';

/**
 * Hazard: a stream that breaks off gives half an answer, none without an error, or the same twice.
 *
 * The streams are those of the reference server over streamable HTTP. `npm run conformance:mcp-streams` cuts them at
 * every byte; here it is at some, in another place each time.
 */

const EVERY = process.env['ORION_MCP_CUTS'] === 'all';
const STRIDE = EVERY ? 1 : 17;
const SEED = EVERY ? 0 : Math.floor(Math.random() * STRIDE);
/** Cuts that are tried at the same time. */
const BATCH = 250;

const RECORDED = [
  ['mcp-long-call', 'Long running operation completed. Duration: 0.6 seconds, Steps: 3.', 3],
  ['mcp-echo', 'Echo: Grüße, 世界 🌍\nline two\r\nline three', 0],
] as const;

/** With the id of the recorded call replaced by that of this one. */
function recorded(name: string, id: unknown): Buffer {
  const text = readFileSync(new URL(`../../fixtures/${name}.sse`, import.meta.url), 'utf8');
  return Buffer.from(
    text
      .replaceAll('"progressToken":7', `"progressToken":${String(id)}`)
      .replaceAll('"id":7', `"id":${String(id)}`),
  );
}

/** Where each event of a stream ends. */
function endsOf(stream: Buffer): readonly number[] {
  const ends: number[] = [];
  for (let at = stream.indexOf('\n\n'); at !== -1; at = stream.indexOf('\n\n', at + 2)) {
    ends.push(at + 2);
  }
  return ends;
}

/** What follows the event that a client names as its last one. */
function after(stream: Buffer, lastId: string): Buffer {
  const end = stream.indexOf('\n\n', stream.indexOf(`id: ${lastId}\n`));
  return stream.subarray(end + 2);
}

type Outcome = { readonly data: unknown; readonly progress: readonly (number | undefined)[] };

/** Cuts the recorded stream at each of these places, in one call each. */
async function cutAt(
  name: string,
  cuts: readonly number[],
  { resumes, destroys }: { readonly resumes: boolean; readonly destroys: boolean },
): Promise<readonly Outcome[]> {
  const streams = new Map<string, Buffer>();
  const { server } = await web(
    ({ id, method, params }, response) => {
      if (method !== 'tools/call' || params === undefined) return undefined;
      const stream = recorded(name, id);
      const { cut } = params['arguments'] as { readonly cut: number };
      for (const [, eventId] of stream.toString().matchAll(/^id: (.*)$/gmu)) {
        // An event's id is the client's alone: those of parallel calls have to differ.
        streams.set(`${String(eventId)}-${String(id)}`, stream);
      }
      const sent = Buffer.from(
        stream.toString().replaceAll(/^id: (.*)$/gmu, `id: $1-${String(id)}`),
      );
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sent.subarray(0, cut), () => (destroys ? response.destroy() : response.end()));
      return 'answered';
    },
    (response: ServerResponse, { headers }) => {
      const lastId = headers['last-event-id'];
      // The stream beside the calls says when a client may ask again.
      if (lastId === undefined) {
        return void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write('retry: 100\n\n');
      }
      const stream = typeof lastId === 'string' ? streams.get(lastId) : undefined;
      if (!resumes || stream === undefined) return void response.writeHead(405).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(after(stream, String(lastId).replace(/-\d+$/u, '')));
      return undefined;
    },
  );
  const called = client(server, { idleMs: 20_000, callMs: 20_000, messages: 1_000_000 });
  const { tools } = await called.offer(never);
  return Promise.all(
    cuts.map(async (cut) => {
      const progress: (number | undefined)[] = [];
      const onProgress = ({ done }: ToolProgress): void => void progress.push(done);
      const answer = tools[0]?.execute({ cut }, { ...CONTEXT, onProgress });
      const data = await answer?.then(
        ({ result }) => (result as { readonly data: unknown }).data,
        (error: unknown) => (error as Error).message,
      );
      return { data, progress };
    }),
  );
}

const CASES = RECORDED.flatMap((stream) =>
  (['resumed', 'ended', 'destroyed'] as const).map((how) => ({ stream, how })),
);

test.for(CASES)(
  'cuts $stream.0, $how',
  { timeout: EVERY ? 600_000 : 30_000 },
  async ({ stream: [name, text, steps], how }) => {
    // Ids of calls have one to four digits, and are made longer for the client: places are those of what is sent.
    const sample = Buffer.from(
      recorded(name, 7)
        .toString()
        .replaceAll(/^id: (.*)$/gmu, 'id: $1-7'),
    );
    const ends = endsOf(sample);
    const cuts: number[] = [];
    for (let cut = SEED; cut < sample.length - 20; cut += STRIDE) cuts.push(cut);
    const whole = sample.length + 100;
    for (let at = 0; at < cuts.length; at += BATCH) {
      const batch = [...cuts.slice(at, at + BATCH), whole];
      const outcomes = await cutAt(name, batch, {
        resumes: how === 'resumed',
        destroys: how === 'destroyed',
      });
      for (const [index, { data, progress }] of outcomes.entries()) {
        const cut = batch[index] ?? 0;
        const where = `seed ${SEED}, cut at ${cut}`;
        const isWhole = cut === whole || (how === 'resumed' && cut > (ends[0] ?? 0) + 20);
        const isCut = cut < (ends[0] ?? 0) || (how !== 'resumed' && cut !== whole);
        if (isWhole) {
          expect(data, where).toBe(text);
          expect(progress, where).toEqual(Array.from({ length: steps }, (_, step) => step + 1));
        } else if (isCut) {
          expect(data, where).toBe(
            'The MCP server made failed: it ended the connection without an answer.',
          );
        }
        expect(
          [text, 'The MCP server made failed: it ended the connection without an answer.'],
          where,
        ).toContain(data);
        // None twice, none out of order.
        expect(progress, where).toEqual(Array.from(progress, (_, step) => step + 1));
      }
    }
  },
);
