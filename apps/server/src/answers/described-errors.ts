import type { ErrorCode } from '@orion/contracts';

import { errorBody } from '../routes/shared.schemas.ts';
import { statusOf } from './http-error.ts';

type DescribedError = {
  readonly description: string;
  readonly content: { readonly 'application/json': { readonly schema: typeof errorBody } };
  /** The codes with this status. */
  readonly 'x-codes': readonly ErrorCode[];
};

/**
 * The errors of a route as its description lists them, beside those that any route has (`openapi/document.ts`). Typed
 * as none, because no handler returns one: an error is thrown.
 */
export function errorsOf(...codes: readonly ErrorCode[]): {} {
  const byStatus = Map.groupBy(codes, statusOf);
  return Object.fromEntries(
    [...byStatus].map(([status, same]): [number, DescribedError] => [
      status,
      {
        description: codeList(same),
        content: { 'application/json': { schema: errorBody } },
        'x-codes': same,
      },
    ]),
  );
}

export function codeList(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}
