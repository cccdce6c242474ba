import { untilAborted } from './until-aborted.ts';

/**
 * A `fetch` for requests that carry the key of this tab. A server that ends leaves its port to anybody, who may have
 * waited for that, so nothing is sent before `prove` has resolved: the port may have changed hands since the last
 * request, however short a time that is. Requests that wait at the same time share one proof; if it fails, so do they.
 */
export function createProvenFetch(prove: () => Promise<void>): typeof fetch {
  let proof: Promise<void> | null = null;
  return async (input, init) => {
    proof ??= prove().finally(() => {
      proof = null;
    });
    const { signal } = init ?? {};
    await (signal ? Promise.race([proof, untilAborted(signal)]) : proof);
    signal?.throwIfAborted();
    return fetch(input, init);
  };
}
