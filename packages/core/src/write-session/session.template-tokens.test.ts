import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';
import { unitsOf } from './text/testing/splits.ts';

/** Hazard: a server leaves the tokens of its chat template in every message, so that no answer is one. */

const SAVED = Array.from({ length: 12 }, (_, line) => `const v${line} = ${line};\n`).join('');

type Dress = (text: string) => string;
const DRESSES: readonly (readonly [string, Dress])[] = [
  ['<|im_end|>', (text) => `${text}<|im_end|>`],
  ['</s>', (text) => `${text}</s>`],
  ['<｜end▁of▁sentence｜>', (text) => `${text}<｜end▁of▁sentence｜>`],
  ['<turn|>', (text) => `${text}<turn|>`],
  ['two of them', (text) => `${text} <|END_OF_TURN_TOKEN|><eos>`],
  ['one on a line of its own', (text) => `${text}\n<|eot_id|>\n`],
  ['the head of a message', (text) => `<|im_start|>assistant\n${text}<|im_end|>`],
  ['the role alone', (text) => `assistant\n\n${text}`],
  ['tags around the answer', (text) => `<answer>\n${text}\n</answer>`],
];

/** What a model says that knows its document, whatever it is asked. */
async function converse(first: string, dress: Dress, units: boolean): Promise<SessionHarness> {
  const harness = new SessionHarness({ target: 'a.ts' });
  let said = first;
  for (let round = 0; harness.file === null && round < 6; round += 1) {
    const message = dress(said);
    harness.message(units ? unitsOf(message) : message);
    await harness.wait(2_000);
    const { question } = harness.record;
    if (question?.kind === 'lead') said = 'DROP';
    else if (question?.kind === 'end') said = `END ${question.candidates[0]?.line}`;
    else said = 'DONE';
  }
  return harness;
}

describe.each(DRESSES)('R021, R270, R271: %s in every message', (_name, dress) => {
  it.each([
    ['behind the marker', `${SAVED}DONE`],
    ['behind the text', SAVED.trimEnd()],
  ])('is not in the file: %s', async (_where, first) => {
    for (const units of [false, true]) {
      const harness = await converse(first, dress, units);
      expect(harness.file).toBe(SAVED);
    }
  });

  it('does not hide the end of a continuation', async () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(SAVED, { kind: 'length' });
    harness.message(dress(`${SAVED}const last = 0;\nDONE`));
    await harness.wait(2_000);
    for (let round = 0; harness.file === null && round < 3; round += 1) {
      const { question } = harness.record;
      const end = question?.kind === 'end' ? question.candidates[0] : undefined;
      harness.message(dress(end === undefined ? 'DONE' : `END ${end.line}`));
      await harness.wait(2_000);
    }
    expect(harness.file).toBe(`${SAVED}const last = 0;\n`);
  });
});

describe('R021: a token of a chat template that may be meant', () => {
  it('stays in the file if the model says so', async () => {
    const harness = new SessionHarness();
    harness.message('<|im_start|>user\nHello<|im_end|>');
    await harness.wait(2_000);
    expect(harness.prompts.at(-1)).toContain('Your message ended with: <|im_end|>');
    harness.message('KEEP');
    expect(harness.file).toBe('<|im_start|>user\nHello<|im_end|>');
  });

  it('is content without a question before a marker', () => {
    const harness = new SessionHarness();
    harness.message('Hello<|im_end|>\nDONE');
    expect(harness.file).toBe('Hello<|im_end|>\n');
  });

  it('is kept beside the file where it was left out', async () => {
    const harness = new SessionHarness();
    harness.message('Hello<|im_end|>');
    await harness.wait(2_000);
    harness.message('DONE<|im_end|>');
    expect([harness.file, harness.aside]).toEqual(['Hello\n', '<|im_end|>']);
  });
});
