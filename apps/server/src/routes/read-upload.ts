import type { IncomingMessage } from 'node:http';

import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/**
 * The body of an upload as it arrives, of any size. Rejects with REQUEST_TIMEOUT when nothing comes for `stallMs`, and
 * with REQUEST_INVALID when the client has gone. The connection stays, so that the client reads the answer.
 */
export async function* readUpload(
  request: IncomingMessage,
  { stallMs, clock }: { readonly stallMs: number; readonly clock: Clock },
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        const cancel = clock.schedule(stallMs, () => reject(stalled(stallMs)));
        const settle = (): void => cancel();
        chunks
          .next()
          .then(resolve, () => reject(broken()))
          .finally(settle);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    void chunks.return?.().catch(() => undefined);
  }
}

function stalled(stallMs: number): OrionError {
  return new OrionError({
    code: 'REQUEST_TIMEOUT',
    message: `Nothing of the upload arrived for ${stallMs} ms. What arrived before is stored.`,
  });
}

function broken(): OrionError {
  return new OrionError({
    code: 'REQUEST_INVALID',
    message: 'The upload broke off. What arrived is stored.',
  });
}
