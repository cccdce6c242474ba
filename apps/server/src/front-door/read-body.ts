import type { IncomingMessage } from 'node:http';

import { nestsDeeper } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { httpError } from '../answers/http-error.ts';
import type { HttpError } from '../answers/http-error.ts';
import type { ServerLimits } from '../limits.ts';

/** No request that the server takes is nested deeper. */
const MAX_DEPTH = 32;

export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly error: HttpError }
  /** The client has gone. */
  | { readonly kind: 'broken' };

export type ReadBodyOptions = Pick<ServerLimits, 'bodyBytes' | 'bodyMs'> & {
  readonly clock: Clock;
  /** Called before anything is waited for, but not for a body that is announced to be too large. */
  readonly takeBody: () => void;
};

/** A JSON body as a whole. An empty one is an empty object. */
export async function readJsonBody(
  request: IncomingMessage,
  { bodyBytes, bodyMs, clock, takeBody }: ReadBodyOptions,
): Promise<ReadBody> {
  const tooLarge: ReadBody = {
    kind: 'refused',
    error: httpError('BODY_TOO_LARGE', `The body is larger than ${bodyBytes} bytes.`),
  };
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) return tooLarge;
  takeBody();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (outcome: ReadBody): void => {
      cancel();
      request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > bodyBytes) end(tooLarge);
      else chunks.push(chunk);
    };
    const onEnd = (): void => end(judge(Buffer.concat(chunks)));
    const onBreak = (): void => end({ kind: 'broken' });
    const cancel = clock.schedule(bodyMs, () => {
      const error = httpError('REQUEST_TIMEOUT', `The body did not arrive within ${bodyMs} ms.`);
      end({ kind: 'refused', error });
    });
    request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
  });
}

function judge(bytes: Buffer): ReadBody {
  const invalid = (message: string): ReadBody => ({
    kind: 'refused',
    error: httpError('REQUEST_INVALID', message),
  });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return invalid('The body is not valid UTF-8.');
  }
  if (text.trim() === '') return { kind: 'read', bytes: Buffer.from('{}') };
  if (nestsDeeper(text, MAX_DEPTH))
    return invalid(`The JSON of the body is nested deeper than ${MAX_DEPTH} levels.`);
  try {
    JSON.parse(text);
  } catch {
    return invalid('The body is not JSON.');
  }
  return { kind: 'read', bytes };
}
