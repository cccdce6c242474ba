import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';

/** Hazard: in strict mode the model is asked for a line that then becomes part of the file. */

function strict(options: HarnessOptions = {}): SessionHarness {
  return new SessionHarness({ ...options, settings: { ...options.settings, strict: true } });
}

describe('R034: only the session’s own end marker answers in strict mode', () => {
  it('to P2: it finalizes, a bare DONE is asked about and never written', async () => {
    const harness = strict();
    harness.message('one\ntwo\n');
    await harness.wait(2000);
    expect(harness.prompts[0]).toContain("If you're finished, reply DONE 7f3a on its own line.");
    harness.message('DONE');
    expect(harness.file).toBeNull();
    await harness.wait(2000);
    expect(harness.prompts[1]).toBe(harness.prompts[0]);
    harness.message('DONE 7f3a');
    expect([harness.file, harness.aside]).toEqual(['one\ntwo\n', '']);
  });

  it('to P4 and P7', async () => {
    const harness = strict();
    harness.message('one\ntwo\n', { kind: 'length' });
    expect(harness.prompts[0]).toContain('End with DONE 7f3a on a line of its own.');
    harness.message('DONE 7f3a');
    expect(harness.file).toBe('one\ntwo\n');
    const miss = strict();
    miss.message('one\nDONE.\n');
    await miss.wait(2000);
    expect(miss.prompts[0]).toContain('Reply DONE 7f3a if that is not part of the file');
    miss.message('DONE');
    await miss.wait(2000);
    expect(miss.file).toBeNull();
    expect(miss.prompts[1]).toMatch(
      /^That was no answer\. Reply with one of these, alone on a line: KEEP, DONE 7f3a\n/u,
    );
    miss.message('DONE 7f3a');
    expect(miss.file).toBe('one\n');
  });

  it('to P2a and P2b', async () => {
    const harness = strict();
    harness.message('');
    await harness.wait(2000);
    expect(harness.prompts[0]).toContain('from its first line, then DONE 7f3a on its own line.');
    harness.message('DONE 7f3a');
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(/^You wrote DONE 7f3a, but no content/u);
    harness.message('DONE 7f3a');
    expect(harness.file).toBe('');
  });

  it('and DONE, of no session or of another, is a line of the file', () => {
    const harness = strict();
    harness.message('one\nDONE\nI am finished.\nDONE 0000\nDONE 7f3a\n');
    expect([harness.file, harness.prompts]).toEqual(['one\nDONE\nI am finished.\nDONE 0000\n', []]);
  });
});
