import { describe, expect } from 'vitest';
import type { ContinuationVariant } from '@orion/llm-adapters/scripted';

import { carriageReturnDocument, codeDocument, markdownDocument } from './support/documents.ts';
import { judge, type Outcome } from './support/outcomes.ts';
import { writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

/** What a length stop ends in: without a proof of the join nothing is written. */
const EXPECTED = {
  repeat_extra: ['exact'],
  polite: ['exact'],
  restart: ['exact'],
  refence: ['exact', 'paused'],
  no_anchor: ['exact', 'paused'],
  start_late: ['exact', 'paused'],
  ignore: ['paused'],
} as const satisfies Partial<Record<ContinuationVariant, readonly Outcome[]>>;
const VARIANTS = Object.keys(EXPECTED) as (keyof typeof EXPECTED)[];

describe.for([codeDocument(), carriageReturnDocument(), markdownDocument()])(
  'R047: a length stop in a long $name document is got over',
  (document) => {
    test.concurrent.for(VARIANTS)('with a model that answers: %s', async (variant, { machine }) => {
      const provider = await machine.provider(
        writeDocument(
          {
            target: document.target,
            content: document.text,
            continuations: [{ variant, ...(variant === 'refence' ? { text: 'text' } : {}) }],
          },
          {
            shape: { chunk: { min: 10, max: 200 } },
            // In the middle of a line.
            faults: [{ kind: 'length', reply: 1, at: { characters: 20_017 } }],
          },
        ),
      );

      const ended = await machine.ask(provider);

      const outcome = await judge(machine, ended, document);
      expect(EXPECTED[variant], ended.stderr).toContain(outcome);
    });
  },
);
