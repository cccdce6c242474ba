import type {
  ByteSource,
  CommitPart,
  PrepareRequest,
  TargetSnapshot,
  WritePlan,
} from '@orion/contracts';

import { validatedText } from '../validation/validated-text.ts';

/** A change that puts one text into a file as it comes: nothing of it or of the file has to be known beforehand. */
export type WholeTextChange = {
  readonly request: Omit<PrepareRequest, 'changeId'>;
  /** Of the text as it was read last. */
  readonly givenBytes: () => number;
};

/**
 * Creates, overwrites or appends without reading the text before it is written: it is validated on its way, and the
 * commit gives it the file's line endings. Reading rejects with INVALID_CONTENT or VALIDATION_FAILED.
 */
export function wholeTextChange(
  operation: 'create' | 'overwrite' | 'append',
  expected: TargetSnapshot,
  source: ByteSource,
  eol: WritePlan['eol'],
): WholeTextChange {
  const text = validatedText(source, expected.path);
  const added: CommitPart = { kind: 'new', source: text.source };
  const kept: CommitPart = { kind: 'kept', start: 0, end: expected.bytes };
  return {
    request: {
      target: expected.path,
      operation,
      parts: operation === 'append' ? [kept, added] : [added],
      eol,
      expected,
    },
    givenBytes: text.bytes,
  };
}
