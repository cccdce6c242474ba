import { END, END_OF_CALLS, flood, reply, say, writing } from '../provider.ts';
import type { Answering, Asked, Manner } from '../provider.ts';

export const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
export const LONG = 'x'.repeat(10_000);

/** The first answer is this body, whole. */
export const answering = (body: string): Manner =>
  writing('a.txt', { begin: (_asked, to) => reply(to, body) });

/** An error instead of the first answer. */
export const failing =
  (status: number, body: (asked: Asked) => string, headers: Record<string, string> = {}): Manner =>
  async (asked, to) => {
    to.head(status, { 'content-type': 'application/json', ...headers });
    await to.send(body(asked));
    to.end();
  };

/** Within the content: what came before it is kept. */
export const withinContent = (attack: (to: Answering) => Promise<void>): Manner =>
  writing('a.txt', {
    content: async (_asked, to) => {
      to.head(200);
      await to.send(say('kept line\n'.repeat(50)));
      await attack(to);
      to.end();
    },
  });

/** Calls tools once, and says a word when they have answered. */
export const callingOnce =
  (calls: (asked: Asked) => string): Manner =>
  (asked, to) =>
    asked.index === 0 ? reply(to, calls(asked) + END_OF_CALLS) : reply(to, say('Sorry.') + END);

/** A whole answer that is this piece, again and again. */
export const flooding =
  (piece: string, bytes?: number): Manner =>
  async (_asked, to) => {
    to.head(200);
    await flood(to, piece, bytes);
  };
