/** Hazard: a session whose text a program uploads asks, cuts or waits as one of a model does. */
import { describe, expect, it } from 'vitest';

import { summaryOfBytes } from './text/content-summary.ts';
import { advance, recordOf, restoreSession } from './advance.ts';
import { DEFAULTS, metadataFor } from './testing/session-harness.ts';
import { fileEndOf, receiptNotesOf } from './session.ts';
import type { SessionInput, SessionStep } from './session.ts';
import { createDoneScan, endDoneScan, scanForDone } from './text/markers/done-scan.ts';

const TEXT = '```ts\nconst a = 1;\n```\nDONE\nI have written it.\n';

function restored(text: string, record: ReturnType<typeof recordOf> | null = null, newline = true) {
  const ending = text.endsWith('\r\n') ? '\r\n' : text.endsWith('\n') ? '\n' : '';
  return restoreSession({
    metadata: { ...metadataFor('a.ts', 'create', newline), uploaded: true },
    settings: DEFAULTS,
    record,
    summary: summaryOfBytes({
      bytes: Buffer.byteLength(text),
      lineFeeds: text.split('\n').length - 1,
      ending,
    }),
    innerDone: endDoneScan(scanForDone(createDoneScan(), text)),
  });
}

function run(step: SessionStep, ...inputs: readonly SessionInput[]): SessionStep {
  return inputs.reduce(({ session }, input) => advance(session, input), step);
}

const ended = (
  corrections: Extract<SessionInput, { type: 'upload_ended' }>['corrections'] = null,
) => ({ type: 'upload_ended', corrections }) as const;
const begin = (text = TEXT): SessionStep => ({ session: restored(text), effects: [] });
const invalid: SessionInput = { type: 'corrections_needed', places: [], count: 3 };
const types = ({ effects }: SessionStep): readonly string[] => effects.map(({ type }) => type);

describe('an upload that has ended', () => {
  it('is written as it is, with what a model would be asked about', () => {
    const step = run(begin(), ended());
    expect(step.effects.find(({ type }) => type === 'finalize')).toEqual({
      type: 'finalize',
      start: 0,
      end: null,
      lineEnding: '',
    });
    expect(receiptNotesOf(step.session)).toEqual({ fence_stripped: false, warnings: [] });
    expect(recordOf(step.session)).toMatchObject({ has_ended: true, inner_done_lines: [] });
    expect(recordOf(step.session)).not.toHaveProperty('cut_off');
  });

  it('is said to be written by hand when nobody said that it had ended', () => {
    const step = run(begin(), { type: 'finalize_command', answer: null });
    expect(receiptNotesOf(step.session).warnings).toEqual(['finalized_by_hand']);
  });

  it.each([
    ['a\n', 1],
    ['a\r\n', 1],
    ['a', null],
    ['a\n\n', 2],
    ['', null],
  ])('%j without its last line ending ends at %j', (text, end) => {
    expect(fileEndOf(restored(text, null, false))).toBe(end);
  });
});

describe('invalid text of an upload', () => {
  it('pauses the session until its program corrects it, round after round', () => {
    let step = run(begin(), ended(), invalid);
    expect(step.session.control).toEqual({
      kind: 'paused',
      code: 'INVALID_CONTENT',
      question: null,
    });
    expect(types(step)).toEqual(expect.arrayContaining(['save', 'release']));
    for (const round of [1, 2]) {
      step = run(step, ended([]), invalid);
      expect(step.session.control.kind).toBe('paused');
      expect(step.session.repair).toMatchObject({ found: 3, replace: false });
      expect(step.session.repair?.rounds).toHaveLength(round);
    }
    step = run(step, ended([{ start: 0, end: 1, text: 'x' }]), invalid);
    expect(step.session.control.kind).toBe('finalizing');
    expect(step.session.repair).toMatchObject({ replace: true });
    expect(step.session.repair?.rounds).toHaveLength(3);
    expect(types(step)).toContain('finalize');
  });

  it('is replaced at once where a person has it written', () => {
    const step = run(begin(), { type: 'finalize_command', answer: null }, invalid);
    expect(step.session.repair).toMatchObject({ rounds: [], replace: true });
  });

  it('is found again after a restart, in the round in which it was', () => {
    const { session } = run(begin(), ended(), invalid, ended([]), invalid);
    const again = restored(TEXT, recordOf(session));
    expect(again.repair).toEqual(session.repair);
    expect(
      run({ session: again, effects: [] }, ended([]), invalid).session.repair?.rounds,
    ).toHaveLength(2);
  });
});
