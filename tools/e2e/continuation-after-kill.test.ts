import { describe, expect } from 'vitest';
import type { ContinuationVariant } from '@orion/llm-adapters/scripted';

import { carriageReturnDocument, codeDocument, markdownDocument } from './support/documents.ts';
import { judge, type Outcome } from './support/outcomes.ts';
import { writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Where the process is killed: inside a block of code, and inside a fence of the Markdown document. */
const KILLED_AT = 1503;

/** What a recovery ends in; where it depends on the document, for code, CRLF and Markdown. */
const EXPECTED = {
  repeat_extra: 'exact',
  polite: 'exact',
  restart: 'exact',
  refence: 'exact',
  // Not clean enough to be accepted: asked again, then bridged where the rest has lines that are unique.
  no_anchor: ['exact', 'exact', 'paused'],
  start_late: ['exact', 'exact', 'paused'],
  // A refusal in one sentence: the model says that it is no part of the file, and the receipt that it may be short.
  ignore: 'unverified',
} as const satisfies Partial<Record<ContinuationVariant, Outcome | readonly Outcome[]>>;
const VARIANTS = Object.keys(EXPECTED) as (keyof typeof EXPECTED)[];
const DOCUMENTS = [codeDocument(), carriageReturnDocument(), markdownDocument()];

describe.for(DOCUMENTS)('R047: a killed write of a long $name document goes on', (document) => {
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
          faults: [{ kind: 'stall', reply: 1, at: { lines: KILLED_AT } }],
        },
      ),
    );
    const writer = machine.startAsking(provider, [], { env: { WRITE_SESSION_SAVE_MS: '50' } });
    const before = document.text.split('\n').slice(0, KILLED_AT).join('\n');
    const session = await machine.savedSession(Buffer.byteLength(before));
    writer.kill('SIGKILL');
    await writer.finished;

    const ended = await machine.run(['recover-session', session.id]);

    const outcome = await judge(machine, ended, document);
    const expected = EXPECTED[variant];
    const here = typeof expected === 'string' ? expected : expected[DOCUMENTS.indexOf(document)];
    expect(outcome, ended.stderr).toBe(here);
  });
});
