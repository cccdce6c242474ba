import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { createProvenFetch } from './proven-fetch.ts';

/** Hazard: the key of the tab goes to whoever has taken the port of a server that ended. */

const sent: string[] = [];

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal('fetch', (url: string) => {
    sent.push(url);
    return Promise.resolve(new Response(url));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** Proofs that a test gives or fails, in the order in which they were asked for. */
function setUp() {
  const proofs: PromiseWithResolvers<void>[] = [];
  const send = createProvenFetch(() => {
    const proof = Promise.withResolvers<void>();
    proofs.push(proof);
    return proof.promise;
  });
  return {
    proofs,
    send: async (path: string, init?: RequestInit) => (await send(path, init)).text(),
  };
}

it('sends nothing before the server has proved itself, for each request anew', async () => {
  const { proofs, send } = setUp();
  const first = send('/1');
  const second = send('/2');
  await Promise.resolve();
  expect(sent).toEqual([]);
  expect(proofs).toHaveLength(1);
  proofs[0]?.resolve();
  expect(await Promise.all([first, second])).toEqual(['/1', '/2']);
  const third = send('/3');
  await Promise.resolve();
  expect(proofs).toHaveLength(2);
  expect(sent).toEqual(['/1', '/2']);
  proofs[1]?.resolve();
  expect(await third).toBe('/3');
});

it('a proof that fails sends nothing, and the next request asks for another one', async () => {
  const { proofs, send } = setUp();
  const waiting = [send('/1'), send('/2')];
  const stranger = new Error('a stranger');
  proofs[0]?.reject(stranger);
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes).toEqual(waiting.map(() => ({ status: 'rejected', reason: stranger })));
  const third = send('/3');
  expect(proofs).toHaveLength(2);
  proofs[1]?.resolve();
  expect(await third).toBe('/3');
  expect(sent).toEqual(['/3']);
});

it('who leaves while waiting has its own reason at once, and takes nobody along', async () => {
  const { proofs, send } = setUp();
  const leaving = new AbortController();
  const left = send('/1', { signal: leaving.signal });
  const stays = send('/2', { signal: new AbortController().signal });
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(send('/3', { signal: leaving.signal })).rejects.toThrow('left');
  expect(sent).toEqual([]);
  expect(proofs).toHaveLength(1);
  proofs[0]?.resolve();
  expect(await stays).toBe('/2');
  expect(sent).toEqual(['/2']);
});
