import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';

const omissions = [{ line: 2, text: '// ... rest unchanged' }];
const FIRST = 'const a = 1;\n// ... rest unchanged\n';

function suspected(): SessionHarness {
  const harness = new SessionHarness({ target: 'a.ts', operation: 'overwrite' });
  harness.message(`${FIRST}DONE`);
  harness.send({ type: 'omissions_suspected', omissions });
  expect(harness.state).toBe('session_active.awaiting_answer');
  expect(harness.prompts).toEqual([expect.stringContaining('2: // ... rest unchanged')]);
  return harness;
}

describe('R249: a file that seems to leave something out', () => {
  it('KEEP: it is written as it is, and not asked about again', () => {
    const harness = suspected();
    harness.message('KEEP');
    expect(harness.file).toBe(FIRST);
    expect(harness.session.omissionsAsked).toBe(true);
    expect(harness.record.omissions_asked).toBe(true);
  });

  it('AGAIN: what was written is set aside, and the file is written anew', () => {
    const harness = suspected();
    harness.message('AGAIN');
    expect(harness.state).toBe('session_active.awaiting_content');
    expect(harness.aside).toBe(FIRST);
    expect(harness.rewinds).toEqual([0]);
    expect(harness.record.omissions_asked).toBe(true);
    expect(harness.prompts.at(-1)).toContain('with nothing left out');
    // Not joined to what was there before, and read like any first message.
    harness.message('const a = 1;\nconst b = 2;\nDONE');
    expect(harness.file).toBe('const a = 1;\nconst b = 2;\n');
    expect(harness.record.seams).toEqual([]);
  });

  it('AGAIN with a part of the text outside the file: nothing is set aside twice', () => {
    const harness = new SessionHarness({ target: 'a.ts', operation: 'overwrite' });
    harness.message(`Here it is:\n\`\`\`ts\n${FIRST}\`\`\`\nDONE`);
    expect(harness.file).toBe(FIRST);
    harness.send({ type: 'omissions_suspected', omissions });
    harness.message('AGAIN');
    expect(harness.aside.length).toBe(`Here it is:\n\`\`\`ts\n${FIRST}\`\`\`\n`.length);
    harness.message('x\nDONE');
    expect(harness.file).toBe('x\n');
  });

  it('anything else is no answer and no content: the message is left at once, and asked again', async () => {
    const harness = suspected();
    harness.message(['const', ' a = 1;\nconst b = 2;\nDONE']);
    expect(harness.stopped).toBe(true);
    expect(harness.content).toBe(FIRST);
    expect(harness.chat).toBe('');
    await harness.wait(2000);
    expect(harness.prompts).toHaveLength(2);
    harness.message('KEEP');
    expect(harness.file).toBe(FIRST);
  });

  it('killed with the question open: it is asked again', () => {
    const { content, record } = suspected();
    const recovered = new SessionHarness({
      target: 'a.ts',
      operation: 'overwrite',
      recovered: { content, record },
    });
    expect(recovered.state).toBe('session_active.awaiting_answer');
    expect(recovered.prompts).toHaveLength(1);
    recovered.message('KEEP');
    expect(recovered.file).toBe(content);
  });

  it('by hand it needs an answer', () => {
    const harness = suspected();
    harness.send({ type: 'cancelled' });
    harness.send({ type: 'finalize_command', answer: null });
    expect(harness.refusals).toEqual(['QUESTION_OPEN']);
    harness.send({ type: 'finalize_command', answer: { kind: 'strip' } });
    expect(harness.file).toBe(FIRST);
    expect(harness.state).toBe('session_active.paused');
    harness.send({ type: 'finalize_command', answer: { kind: 'keep' } });
    expect(harness.state).toBe('session_active.finalizing');
  });
});
