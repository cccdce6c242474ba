import fastCheck from 'fast-check';
import { expect, it } from 'vitest';

import { TextFeed } from './text-feed.ts';

/** Hazard: events without text, text that overtakes a range, a rewind meanwhile: the view differs from the file. */

/** The generators of fast-check take seconds to be made. */
const codePoint = fastCheck
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

type Step =
  | {
      readonly kind: 'write';
      readonly text: string;
      readonly isCarried: boolean;
      readonly isSeen: boolean;
    }
  | { readonly kind: 'rewind'; readonly part: number }
  | { readonly kind: 'answer'; readonly isCut: boolean; readonly fails: boolean };

const step: fastCheck.Arbitrary<Step> = fastCheck.oneof(
  {
    weight: 3,
    arbitrary: fastCheck.record({
      kind: fastCheck.constant('write' as const),
      text: fastCheck.string({ unit: codePoint, minLength: 1, maxLength: 6 }),
      isCarried: fastCheck.boolean(),
      isSeen: fastCheck.boolean(),
    }),
  },
  fastCheck.record({
    kind: fastCheck.constant('rewind' as const),
    part: fastCheck.double({ min: 0, max: 1, noNaN: true }),
  }),
  {
    weight: 2,
    arbitrary: fastCheck.record({
      kind: fastCheck.constant('answer' as const),
      isCut: fastCheck.boolean(),
      fails: fastCheck.boolean(),
    }),
  },
);

it('the view is the file, whatever the events carried and however ranges were answered', async () => {
  await fastCheck.assert(
    fastCheck.asyncProperty(fastCheck.array(step, { maxLength: 25 }), async (steps) => {
      let file = Buffer.alloc(0);
      let view = Buffer.alloc(0);
      const asked: {
        from: number;
        to: number;
        resolve: (bytes: Uint8Array) => void;
        reject: (error: Error) => void;
      }[] = [];
      const feed = new TextFeed(
        {
          append: (text) => (view = Buffer.concat([view, Buffer.from(text)])),
          rewind: (toByte) => (view = view.subarray(0, toByte)),
          bytes: () => view.length,
        },
        {
          read: (from, to) =>
            new Promise((resolve, reject) => asked.push({ from, to, resolve, reject })),
          failed: () => undefined,
          wait: () => Promise.resolve(),
        },
      );
      const answer = async (isCut: boolean, fails: boolean): Promise<void> => {
        const next = asked.shift();
        if (next === undefined) return;
        const bytes = file.subarray(next.from, next.to);
        if (fails) next.reject(new Error('no'));
        else next.resolve(isCut ? bytes.subarray(0, Math.ceil(bytes.length / 2)) : bytes);
        await new Promise(setImmediate);
      };
      for (const given of steps) {
        if (given.kind === 'answer') await answer(given.isCut, given.fails);
        else if (given.kind === 'rewind') {
          // Characters stay whole, as the server's do.
          const end = Buffer.from(
            [...file.toString()].slice(0, Math.floor(given.part * file.length)).join(''),
          ).length;
          file = file.subarray(0, end);
          feed.rewind(end);
        } else {
          const bytes = Buffer.from(given.text);
          const offset = file.length;
          file = Buffer.concat([file, bytes]);
          if (given.isSeen) feed.chunk(offset, bytes.length, given.isCarried ? given.text : null);
        }
      }
      feed.reach(file.length);
      for (let turn = 0; turn < 100 && view.length < file.length; turn += 1) {
        await answer(false, false);
        feed.reach(file.length);
      }
      expect(view.toString()).toBe(file.toString());
    }),
    { numRuns: 200 },
  );
});

it('waits before it asks again, and asks for nothing that is gone, or after it was closed', async () => {
  const answers: (Uint8Array | null | Error)[] = [new Uint8Array(), new Error('no'), null];
  const said: (string | null)[] = [];
  let waits = 0;
  let asked = 0;
  const feed = new TextFeed(
    { append: () => undefined, rewind: () => undefined, bytes: () => 0 },
    {
      read: () => {
        asked += 1;
        const answer = answers.shift() ?? null;
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      failed: (error) => said.push(error?.message ?? null),
      wait: () => {
        waits += 1;
        return Promise.resolve();
      },
    },
  );
  feed.reach(10);
  await new Promise(setImmediate);
  expect([asked, waits, said]).toEqual([3, 2, [null, 'no']]);
  feed.close();
  feed.reach(20);
  await new Promise(setImmediate);
  expect(asked).toBe(3);
});

it('a large text is read in a number of requests that a server does not take for an attack', async () => {
  const size = 64 * 1024 * 1024;
  let bytes = 0;
  const sizes: number[] = [];
  const live = {
    append: (text: string) => void (bytes += text.length),
    rewind: () => undefined,
    bytes: () => bytes,
  };
  const feed = new TextFeed(live, {
    read: (from, to) => {
      sizes.push(to - from);
      if (sizes.length === 3) return Promise.reject(new Error('lost'));
      return Promise.resolve(new Uint8Array(to - from).fill(0x61));
    },
    failed: () => undefined,
    wait: () => Promise.resolve(),
  });
  feed.reach(size);
  await expect.poll(() => bytes).toBe(size);
  feed.close();
  const kB = 1024;
  expect(sizes.slice(0, 5)).toEqual([256 * kB, 512 * kB, 1024 * kB, 256 * kB, 512 * kB]);
  expect(Math.max(...sizes)).toBe(4096 * kB);
  expect(sizes.length).toBeLessThan(30);
});

it('text that is being written is read ten times a second, however many events announce it', async () => {
  let bytes = 0;
  const reads: string[] = [];
  const waits: { readonly milliseconds: number; readonly over: () => void }[] = [];
  const live = {
    append: (text: string) => void (bytes += text.length),
    rewind: () => undefined,
    bytes: () => bytes,
  };
  const feed = new TextFeed(live, {
    read: (from, to) => {
      reads.push(`${from}-${to}`);
      return Promise.resolve(new Uint8Array(to - from).fill(0x61));
    },
    failed: () => undefined,
    wait: (milliseconds) => new Promise((over) => waits.push({ milliseconds, over })),
  });
  for (let offset = 0; offset < 50; offset += 10) {
    feed.chunk(offset, 10, null);
    await new Promise(setImmediate);
  }
  expect(reads).toEqual(['0-10']);
  expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([100]);
  waits[0]?.over();
  await new Promise(setImmediate);
  expect(reads).toEqual(['0-10', '10-50']);
  feed.close();
});
