/** What a good client does while servers die: it asks again, with the same key, and goes on where it was. */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { askServer, codeOf } from '@orion/testkit/http';
import type { HttpAnswer } from '@orion/testkit/http';

import { judgeOrder } from '../../served-turns/judge.ts';
import { isRefused, TurnReader } from '../../served-turns/reader.ts';
import type { ReadEvent } from '../../served-turns/reader.ts';
import type { Group } from '../group.ts';
import { WatchedTurn } from '../watched-turn.ts';

export const AGAIN_MS = 100;
/** What passes: also a file that a killed server held, for as long as another host cannot know that it is gone. */
export const LATER: ReadonlySet<string> = new Set([
  'SESSION_BUSY',
  'TARGET_LOCKED',
  'STORE_UNAVAILABLE',
  'SERVER_STOPPING',
]);

type Question = {
  readonly method?: 'PUT' | 'DELETE';
  readonly json?: unknown;
  readonly body?: Uint8Array;
  readonly key?: string;
  /** Whether a refusal that passes is waited for; true if nothing is said. */
  readonly isPatient?: boolean;
};

export type PlayedTurn = {
  readonly id: string;
  /** Without what a rewind made void. */
  readonly events: readonly ReadEvent[];
  readonly done: ReadEvent['data'];
  /** What is wrong with the log as its readers saw it. */
  readonly failures: readonly string[];
};

export type Client = {
  /** Any answer but that of a server that dies. Each request goes to the next server. */
  ask(path: string, question?: Question): Promise<HttpAnswer>;
  /** A message with a key, and its turn to the end, over as many connections as it takes. */
  turn(message: object, path?: string): Promise<PlayedTurn>;
  /** Begins a write session; the key is that of its target. */
  begin(target: string, operation?: string): Promise<string>;
  /** Sends what the session has not, in this many parts. */
  upload(id: string, bytes: Uint8Array, parts?: number): Promise<void>;
  /** Finalizes. The answer says the same each time. */
  finalize(id: string, bytes: number): Promise<HttpAnswer>;
};

export function createClient(group: Group): Client {
  let asked = 0;
  let turns = 0;
  const next = () => group.at((asked += 1));

  const ask: Client['ask'] = async (path, { key, isPatient = true, ...question } = {}) => {
    const headers = {
      accept: 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(question.body === undefined ? {} : { 'content-type': 'application/octet-stream' }),
    };
    for (;;) {
      try {
        const { url, token } = next();
        const { port } = new URL(url);
        const answer = await askServer(Number(port), path, { token, headers, ...question });
        if (!isPatient || !LATER.has(codeOf(answer.json))) return answer;
      } catch (error) {
        if (!isRefused(error)) throw error;
      }
      await wait(AGAIN_MS);
    }
  };

  const readAgain = async (id: string): Promise<TurnReader> => {
    const reader = new TurnReader(id);
    while (!reader.isDone) {
      await reader
        .read(next(), () => 'more')
        .catch((error: unknown) => {
          if (!isRefused(error)) throw error;
        });
      if (!reader.isDone) await wait(AGAIN_MS);
    }
    return reader;
  };

  return {
    ask,
    async turn(message, path = '/api/chat/messages') {
      const key = `turn-${(turns += 1)}`;
      const watched = new WatchedTurn(async () => {
        const posted = await ask(path, { json: message, key });
        if (posted.status !== 202) throw new Error(`${posted.status}: ${posted.text}`);
        return (posted.json as { readonly turnId: string }).turnId;
      });
      await watched.read(next);
      const { id } = watched;
      const again = await readAgain(id);
      const failures = judgeOrder(watched.events);
      if (JSON.stringify(again.events) !== JSON.stringify(watched.events))
        failures.push('another reader sees other events');
      if (watched.resets > 0) failures.push('the turn began again for its reader');
      const done = watched.events.at(-1)?.data ?? {};
      return { id, events: withoutVoid(watched.events), done, failures };
    },
    async begin(target, operation = 'create') {
      const json = { intent: 'acceptance', target_file: target, operation };
      const { status, text, json: found } = await ask('/api/write-sessions', { json, key: target });
      if (status !== 201 && status !== 200) throw new Error(`begin: ${status} ${text}`);
      return (found as { readonly session_id: string }).session_id;
    },
    async upload(id, bytes, parts = 1) {
      const size = Math.ceil(bytes.length / parts);
      for (;;) {
        const found = await ask(`/api/write-sessions/${id}`);
        const { bytes: offset = 0 } = (found.json ?? {}) as { readonly bytes?: number };
        if (found.status !== 200) throw new Error(`upload: ${found.status} ${found.text}`);
        if (offset === bytes.length) return;
        const body = bytes.subarray(offset, Math.min(offset + size, bytes.length));
        const path = `/api/write-sessions/${id}/content?offset=${offset}`;
        const { status, text, json } = await ask(path, { method: 'PUT', body });
        // The answer to an upload that has arrived may be lost.
        if (status !== 200 && codeOf(json) !== 'OFFSET_MISMATCH')
          throw new Error(`upload: ${status} ${text}`);
        if (parts > 1) await wait(AGAIN_MS);
      }
    },
    finalize: (id, bytes) =>
      ask(`/api/write-sessions/${id}/finalize`, { json: { bytes }, key: `finalize-${id}` }),
  };
}

/** A rewind makes void what stands behind a number. */
function withoutVoid(events: readonly ReadEvent[]): readonly ReadEvent[] {
  let valid: ReadEvent[] = [];
  for (const event of events) {
    if (event.type === 'rewind')
      valid = valid.filter(({ data }) => Number(data['seq']) <= Number(event.data['toSeq']));
    valid.push(event);
  }
  return valid;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
