import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';

/** Hazard: a model that is asked about its text writes it again, and both stand in the file, or neither. */

const BODY = 'Dear Ann,\n\nthank you for the books.\nI read them all.\n';
const LEAD = 'Sure, here is the file:\n\n';

async function asked(text: string, options: HarnessOptions = {}): Promise<SessionHarness> {
  const harness = new SessionHarness(options);
  harness.message(text);
  await harness.wait(2000);
  expect(harness.prompts).toHaveLength(1);
  return harness;
}

describe('R297: a reply that is the document again starts over', () => {
  it.each<[string, string, string, string]>([
    ['P2', 'Dear Ann,\nthank you for the books.\nI hav', `${BODY}DONE`, 'letter.txt'],
    ['P3', `${BODY}DONE\nI hope this helps!\n`, `${BODY}DONE`, 'letter.txt'],
    ['P4', `${BODY}DONE.\n`, `I am sorry!\nHere is all of it:\n\n${BODY}DONE`, 'letter.txt'],
    ['P5', `\`\`\`text\n${BODY}\`\`\`\nDONE`, `${BODY}DONE`, 'letter.md'],
    ['P11', `${LEAD}${BODY}DONE`, `${BODY}DONE`, 'letter.txt'],
  ])('to %s', async (_name, text, reply, target) => {
    for (const pieces of [[reply], [...reply]]) {
      const harness = await asked(text, { target });
      harness.message(pieces);
      expect([harness.file?.endsWith(BODY), harness.held]).toEqual([true, '']);
      expect(harness.content).toBe(harness.file);
      expect(harness.record).toMatchObject({ started_over: true, seams: [] });
      expect(harness.record).not.toHaveProperty('lead_dropped');
      // What was saved first is set aside, not gone.
      expect(harness.aside).toContain('thank you for the books.');
    }
  });

  it('with an end marker in mid-reply, behind which what it leaves open is asked about', async () => {
    const harness = await asked(`${LEAD}${BODY}DONE`);
    harness.message(`${LEAD}${BODY}DONE 7f3a\nThat was the file.`);
    expect([harness.prompts.length, harness.file]).toEqual([2, null]);
    harness.message('DROP');
    expect(harness.file).toBe(BODY);
  });

  it('to P10, as AGAIN does', async () => {
    const harness = new SessionHarness({ operation: 'overwrite', target: 'a.ts' });
    const text = 'const a = 1;\nconst b = 2;\n// ... rest unchanged\n';
    harness.message(`${text}DONE`);
    harness.send({ type: 'omissions_suspected', omissions: [{ line: 3, text: '// ...' }] });
    harness.message('const a = 1;\nconst b = 2;\nconst c = 3;\nDONE');
    expect(harness.file).toBe('const a = 1;\nconst b = 2;\nconst c = 3;\n');
    expect(harness.aside).toBe(text);
  });

  it('and is a first message then: cut off, it is continued; with a lead, that is asked about', async () => {
    const cut = await asked(`${LEAD}${BODY}DONE`);
    cut.message('Dear Ann,\n\nthank you for the books.\n', { kind: 'length' });
    expect(cut.prompts[1]).toMatch(/^Your message was cut off\./u);
    cut.message(`${BODY}DONE`);
    expect(cut.file).toBe(BODY);
    const led = await asked(`${LEAD}${BODY}DONE`);
    led.message(`${LEAD}${BODY}DONE`);
    expect(led.prompts[1]).toMatch(/^The text for a\.txt begins with: Sure/u);
    led.message('DROP');
    expect(led.file).toBe(BODY);
  });

  it('once: a second one is no answer', async () => {
    const harness = await asked(`${LEAD}${BODY}DONE`);
    harness.message(`${LEAD}${BODY}DONE`);
    harness.message(`${BODY}DONE`);
    expect([harness.file, harness.stopped]).toEqual([null, true]);
    await harness.wait(2000);
    expect(harness.prompts.at(-1)).toMatch(/^That was no answer\./u);
    harness.message('DROP');
    expect(harness.file).toBe(BODY);
  });

  it('also after a recovery', async () => {
    const first = await asked(`${LEAD}${BODY}DONE`);
    first.message(`${LEAD}${BODY}DONE`);
    const harness = new SessionHarness({
      recovered: { content: first.content, record: first.record },
    });
    harness.message(`${BODY}DONE`);
    expect(harness.file).toBeNull();
  });

  it('not when it joins what is saved', async () => {
    const harness = await asked('Dear Ann,\n\nthank you for the books.\n');
    harness.message(`${BODY}DONE`);
    expect([harness.file, harness.aside]).toEqual([BODY, '']);
    expect(harness.session.seams).toMatchObject([{ status: 'verified' }]);
    expect(harness.record).not.toHaveProperty('started_over');
  });

  it('not to a message that was cut off, whose continuation is asked for once more', () => {
    const harness = new SessionHarness();
    harness.message('Dear Ann,\n\nthank you for the books.\nI hav', { kind: 'length' });
    harness.message('Dear Ann,\n\nthank you for the books.\nThey are good.\nBye.\nDONE');
    expect(harness.content).toBe('Dear Ann,\n\nthank you for the books.\nI hav');
    expect(harness.prompts[1]).toMatch(/^That message did not start/u);
  });

  it('not when the reply breaks: what is saved stays', async () => {
    const broken = { kind: 'error', code: 'STREAM_BROKEN', message: '', retryable: true } as const;
    for (const text of [`${LEAD}${BODY}DONE`, `${BODY}DONE\nI hope this helps!\n`]) {
      const harness = await asked(text);
      const saved = harness.content;
      harness.message('Dear Ann,\n\nthank you for the books.\nother\nlines\nhere\n', broken);
      expect([harness.content, harness.record.question !== undefined]).toEqual([saved, true]);
    }
  });
});
