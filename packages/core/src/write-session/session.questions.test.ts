import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';

/** Hazard: what a model says about an open question becomes part of the file, or takes the question's place. */

const TEXT = 'one\ntwo\nDONE\nI hope this helps you!\n';

async function asked(text = TEXT, options: HarnessOptions = {}): Promise<SessionHarness> {
  const harness = new SessionHarness(options);
  harness.message(text);
  await harness.wait(2000);
  expect(harness.state).toBe('session_active.awaiting_answer');
  return harness;
}

describe('R270: the question where the file ends stays open until it is answered', () => {
  it.each([
    'END 3.',
    'END 3\nDONE',
    '**END 3**',
    'The file ends there.\nEND 3',
    'The file is complete. END 3',
    'end 3',
  ])('%j is its answer', async (reply) => {
    const harness = await asked();
    harness.message(reply);
    expect([harness.file, harness.state]).toEqual(['one\ntwo\n', 'session_active.finalizing']);
    expect(harness.aside).toBe('DONE\nI hope this helps you!\n');
  });

  it.each(['DONE', '**DONE**', 'Yes, I am finished.\nDONE'])(
    '%j says that all of it is the file',
    async (reply) => {
      const harness = await asked();
      harness.message(reply);
      expect([harness.file, harness.aside]).toEqual([TEXT, '']);
      expect(harness.session.innerDoneLines).toEqual([3]);
    },
  );

  it.each([
    ['a remark', 'The file ends before line 3.'],
    ['nothing', ''],
    ['another line', 'END 2'],
    ['two answers', 'END 3\nKEEP'],
    ['text that goes on without the anchor', 'three\nfour\nfive\nsix\nseven\n'],
    ['short text', 'three\n'],
    ['a denial', 'I am not DONE yet'],
  ])('%s is asked again, and neither kept nor set aside in its place', async (_name, reply) => {
    const harness = await asked();
    const [question = ''] = harness.prompts;
    harness.message(reply);
    expect([harness.content, harness.aside, harness.held]).toEqual([TEXT, '', '']);
    expect(harness.record.question).toMatchObject({ kind: 'end' });
    await harness.wait(2000);
    expect(harness.prompts[1]).toBe(
      `That was no answer. Reply with one of these, alone on a line: END 3, DONE\n${question}`,
    );
    // What was no answer to this question is no near miss that DONE could leave out either.
    harness.message('END 3');
    expect(harness.file).toBe('one\ntwo\n');
    expect(harness.session.seams).toEqual([]);
  });

  it('is asked as often as idle prompts allow, then waits, still open', async () => {
    const harness = await asked();
    for (let reply = 0; reply < 3; reply += 1) {
      harness.message('The file is all of that, I believe.');
      await harness.wait(2000);
    }
    expect([harness.prompts.length, harness.state]).toEqual([3, 'session_active.paused']);
    expect(harness.record).toMatchObject({ code: 'NO_DONE', question: { kind: 'end' } });
    harness.send({ type: 'finalize_command', answer: { kind: 'end', line: 3 } });
    expect(harness.file).toBe('one\ntwo\n');
  });

  it('is closed by a reply that goes on with the file, and then that is content', async () => {
    const harness = await asked();
    harness.message(`${TEXT}three\nDONE`);
    expect([harness.file, harness.record.question]).toEqual([`${TEXT}three\n`, undefined]);
  });

  it('stays open when the reply is what it asks about, and nothing more', async () => {
    const harness = await asked();
    harness.message(TEXT);
    expect(harness.record.question).toMatchObject({ kind: 'end' });
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(/^Line 3 of what is saved/u);
    harness.message('END 3');
    expect([harness.file, harness.content]).toEqual(['one\ntwo\n', TEXT]);
    const ended = await asked();
    ended.message(`${TEXT}DONE`);
    expect([ended.file, ended.record.question?.kind]).toEqual([null, 'end']);
    const own = await asked();
    own.message(`${TEXT}DONE 7f3a`);
    expect(own.file).toBe(TEXT);
    const miss = await asked('Buy milk and bread\nand some more things\nDone!');
    miss.message('Buy milk and bread\nand some more things\nDone!');
    await miss.wait(2000);
    miss.message('DONE');
    expect(miss.file).toBe('Buy milk and bread\nand some more things\n');
  });

  it('stays open through a cancellation in the middle of such a reply', async () => {
    const harness = await asked();
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: 'three\nfour' });
    harness.send({ type: 'cancelled' });
    expect(harness.record).toMatchObject({ code: 'ABORTED', question: { kind: 'end' } });
  });

  it('stays open when such a reply is cut off or breaks', async () => {
    for (const end of [
      { kind: 'length' },
      { kind: 'error', code: 'STREAM_BROKEN', message: '', retryable: true },
    ] as const) {
      const harness = await asked();
      harness.message('three\n\nfour\n', end);
      expect([harness.content, harness.record.question?.kind]).toEqual([TEXT, 'end']);
    }
  });
});

describe('R270: a near miss stays open too', () => {
  it('and a remark about it is asked again', async () => {
    const harness = await asked('Buy milk\nDONE.\n');
    harness.message('That line is not part of it, I think.');
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(
      /^That was no answer\. Reply with one of these, alone on a line: KEEP, DONE\nYour message ended with: DONE\./u,
    );
    harness.message('DONE');
    expect([harness.file, harness.aside]).toEqual(['Buy milk\n', 'DONE.\n']);
  });

  it('with a reply that was held back, which no later reply replaces', async () => {
    for (const [answer, file, aside] of [
      ['KEEP', 'one\ntwo\nthree\n', ''],
      ['DONE', 'one\ntwo\n', 'three\n'],
    ] as const) {
      const harness = new SessionHarness();
      harness.message('one\ntwo\n');
      await harness.wait(2000);
      harness.message('three\n');
      await harness.wait(2000);
      expect(harness.prompts[1]).toMatch(/^Your message ended with: three/u);
      harness.message('four\n\nfive\n');
      await harness.wait(2000);
      harness.message(answer);
      expect([harness.file, harness.aside, harness.held]).toEqual([file, aside, '']);
    }
  });

  it('is set aside when the file goes on instead', async () => {
    const harness = new SessionHarness();
    harness.message('one\ntwo\n');
    await harness.wait(2000);
    harness.message('All good.');
    await harness.wait(2000);
    harness.message('one\ntwo\nthree\nDONE');
    expect([harness.file, harness.aside]).toEqual(['one\ntwo\nthree\n', 'All good.']);
  });
});

describe('R274: DONE alone after a message that was cut off in the middle of a line', () => {
  it('is answered with the question that shows that line', async () => {
    const harness = new SessionHarness({ target: 'a.py' });
    harness.message('x = 1\ny = 2\nz = ', { kind: 'length' });
    harness.message('DONE');
    expect([harness.file, harness.state]).toEqual([
      null,
      'session_active.awaiting_done_or_more_content',
    ]);
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(/If you're finished, reply DONE/u);
    harness.message('DONE');
    expect(harness.file).toMatch(/^x = 1\ny = 2\nz = /u);
  });

  it('finalizes when the last line is complete', () => {
    const harness = new SessionHarness();
    harness.message('one\ntwo\n', { kind: 'length' });
    harness.message('The file is complete.\nDONE');
    expect([harness.file, harness.aside]).toEqual(['one\ntwo\n', 'The file is complete.\n']);
  });

  it('and `done`, which may be the last line of a script, is asked about (R270)', async () => {
    const harness = new SessionHarness({ target: 'a.sh' });
    harness.message('for x in a b; do\n  echo $x\n', { kind: 'length' });
    harness.message('done');
    expect(harness.file).toBeNull();
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(/^Your message ended with: done/u);
    harness.message('KEEP');
    expect(harness.file).toBe('for x in a b; do\n  echo $x\ndone');
  });
});

describe('R035, R270: the question whether a file is to be empty', () => {
  const start = async (): Promise<SessionHarness> => {
    const harness = new SessionHarness();
    harness.message('DONE');
    await harness.wait(2000);
    return harness;
  };

  it.each(['DONE', '**DONE**', 'Yes, it is to be empty.\nDONE'])(
    '%j confirms it',
    async (reply) => {
      const harness = await start();
      harness.message(reply);
      expect([harness.file, harness.content]).toEqual(['', '']);
    },
  );

  it('takes content for content, however it arrives', async () => {
    const harness = await start();
    harness.message([...'first line\nsecond line\nDONE']);
    expect(harness.file).toBe('first line\nsecond line\n');
  });
});

describe('R035: a question whose answer would leave nothing of the text', () => {
  it.each([
    ['**DONE**', 'DONE'],
    ['Done.', 'Finished. DONE'],
    ['done', 'DONE'],
    ['DONE\nI have written the file.\n', 'END 1'],
  ])('leads to the question whether the file is to be empty: %j, %j', async (message, answer) => {
    const overwrite = new SessionHarness({ operation: 'overwrite' });
    overwrite.message(message);
    await overwrite.wait(2_000);
    overwrite.message(answer);
    await overwrite.wait(2_000);
    expect(overwrite.prompts.at(-1)).toContain('You wrote DONE, but no content for a.txt.');
    expect(overwrite.file).toBeNull();
    overwrite.message('DONE');
    expect(overwrite.file).toBeNull();
    overwrite.message('text\nDONE');
    expect(overwrite.file).toBe('text\n');

    const create = new SessionHarness();
    create.message(message);
    await create.wait(2_000);
    create.message(answer);
    await create.wait(2_000);
    expect(create.file).toBeNull();
    create.message('DONE');
    expect(create.file).toBe('');
  });
});

it('R273: a last line DONE behind a join is asked about, as in one message', async () => {
  const saved = 'alpha beta gamma\ndelta epsilon zeta\neta theta iota\n';
  const harness = new SessionHarness();
  harness.message(saved, { kind: 'length' });
  harness.message(`${saved}DONE\nDONE\n`);
  expect(harness.record.question).toMatchObject({ kind: 'end', candidates: [{ line: 4 }] });
  await harness.wait(2_000);
  harness.message('DONE');
  expect(harness.file).toBe(`${saved}DONE\n`);
});
