import type { ErrorCode } from '../errors.ts';

/** The body of every answer of the server whose status is 400 or higher. */
export type HttpErrorBody = {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    /** The next step. */
    readonly hint?: string;
    /** What a program needs to correct its request, such as the offset of an upload. */
    readonly details?: { readonly [name: string]: unknown };
  };
};
