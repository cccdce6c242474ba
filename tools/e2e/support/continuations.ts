import type { ContinuationVariant, Fault, Script } from '@orion/llm-adapters/scripted';

import {
  carriageReturnDocument,
  codeDocument,
  markdownDocument,
  type LongDocument,
} from './documents.ts';
import type { Outcome } from './outcomes.ts';
import { writeDocument } from './scripts.ts';

/** What a model that continues in this way ends in, on each kind of document. */
export type Expectations = Readonly<
  Partial<Record<ContinuationVariant, readonly [code: Allowed, crlf: Allowed, markdown: Allowed]>>
>;

/** Null: not tried, because nothing else than on the code document can happen. */
type Allowed = Outcome | 'exact or paused' | null;

export type ContinuationCase = {
  readonly name: string;
  readonly document: LongDocument;
  readonly variant: ContinuationVariant;
  readonly allowed: readonly Outcome[];
  /** Of `npm test`: each variant on one document, in turns. */
  readonly isShare: boolean;
};

export function continuationCases(expectations: Expectations): readonly ContinuationCase[] {
  return [codeDocument(), carriageReturnDocument(), markdownDocument()].flatMap((document, index) =>
    Object.entries(expectations).flatMap(([variant, outcomes], row) => {
      const allowed = outcomes[index] ?? null;
      if (allowed === null) return [];
      const inTurn = row % outcomes.length;
      return {
        name: `${document.name}, ${variant}: ${allowed}`,
        document,
        variant: variant as ContinuationVariant,
        allowed: allowed === 'exact or paused' ? ['exact', 'paused'] : [allowed],
        isShare: index === ((outcomes[inTurn] ?? null) === null ? 0 : inTurn),
      };
    }),
  );
}

/** The model writes this document, is cut off by a fault, and continues in its own way. */
export function cutOff({ document, variant }: ContinuationCase, fault: Fault): Script {
  return writeDocument(
    {
      target: document.target,
      content: document.text,
      continuations: [{ variant, ...(variant === 'refence' ? { text: 'text' } : {}) }],
    },
    { shape: { chunk: { min: 10, max: 200 } }, faults: [fault] },
  );
}
