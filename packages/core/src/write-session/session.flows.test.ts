import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';

const lines = (from: number, to: number): string => {
  let text = '';
  for (let line = from; line <= to; line += 1) text += `const value${line} = compute(${line});\n`;
  return text;
};

describe('R035: a marker without content', () => {
  it('is asked about, and a second one confirms an empty file', async () => {
    const harness = new SessionHarness();
    harness.message('\n \nDONE\n');
    expect(harness.state).toBe('session_active.awaiting_content');
    await harness.wait(2000);
    expect(harness.prompts[0]).toMatch(/^You wrote DONE, but no content for a\.txt\./);
    harness.message('DONE');
    expect([harness.state, harness.file]).toEqual(['session_active.finalizing', '']);
  });

  it('is followed by content', async () => {
    const harness = new SessionHarness();
    harness.message('DONE');
    await harness.wait(2000);
    harness.message('text\nDONE');
    expect(harness.file).toBe('text\n');
  });

  it.each([
    ['It is done.\nIt was long.\nDONE', 'It is done.\nIt was long.\n', ''],
    ['It is to be empty.\n\nDONE', '', 'It is to be empty.\n'],
  ])('R270: is followed by %j', async (reply, file, aside) => {
    const harness = new SessionHarness();
    harness.message('DONE');
    await harness.wait(2000);
    harness.message(reply);
    expect([harness.file, harness.aside]).toEqual([file, aside]);
  });

  it('R030: is one also behind blanks that end no line', async () => {
    const harness = new SessionHarness();
    harness.message('  ');
    await harness.wait(2000);
    harness.message('DONE');
    expect([harness.state, harness.content]).toEqual(['session_active.awaiting_content', '']);
  });

  it('never makes an empty file of an overwrite', async () => {
    const harness = new SessionHarness({ operation: 'overwrite' });
    for (let message = 0; message < 4; message += 1) {
      harness.message('DONE');
      await harness.wait(2000);
    }
    expect([harness.state, harness.file, harness.ended]).toEqual(['aborted', null, 'removed']);
  });
});

describe('R047: a message that was cut by its length', () => {
  it('is continued behind a verified seam', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 20), { kind: 'length' });
    expect(harness.prompts[0]).toMatch(/^Your message was cut off\. 20 lines of a\.ts are saved\./);
    harness.message(`${lines(18, 20)}${lines(21, 40)}DONE\n`);
    expect(harness.file).toBe(lines(1, 40));
    expect(harness.session.seams).toMatchObject([{ line: 21, status: 'verified', via: 'anchor' }]);
  });

  it('is continued inside a line', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    const text = lines(1, 20);
    harness.message(text.slice(0, -10), { kind: 'length' });
    harness.message(`${lines(18, 20)}${lines(21, 22)}DONE\n`);
    expect(harness.file).toBe(lines(1, 22));
  });

  it('is asked again twice, then bridged, then paused', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 20), { kind: 'length' });
    harness.message(lines(22, 40), { kind: 'stop' });
    expect(harness.prompts[1]).toMatch(/^That message did not start with the saved lines/);
    harness.message(lines(22, 40));
    expect(harness.prompts[2]).toMatch(/^That message did not start with the saved lines/);
    harness.message(`${lines(22, 40)}DONE\n`);
    expect(harness.prompts[3]).toMatch(/^Two parts of a\.ts must be joined\./);
    harness.message(`${lines(19, 20)}${lines(21, 21)}${lines(22, 26)}DONE\n`);
    expect(harness.file).toBe(lines(1, 40));
    expect(harness.session.seams).toMatchObject([{ status: 'verified', via: 'bridge' }]);
  });

  it('is paused when the bridge fails, with nothing lost', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 20), { kind: 'length' });
    for (let reply = 0; reply < 3; reply += 1) harness.message(`${lines(22, 40)}DONE\n`);
    harness.message('I cannot do that.\n');
    expect(harness.state).toBe('session_active.paused');
    expect(harness.record.code).toBe('SEAM_UNVERIFIED');
    expect(harness.content).toBe(lines(1, 20));
    expect(harness.aside).toContain(lines(22, 40));
  });

  it('pauses after three replies without progress', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 20), { kind: 'length' });
    for (let reply = 0; reply < 3; reply += 1) harness.message('', { kind: 'length' });
    expect(harness.state).toBe('session_active.paused');
  });
});

describe('R047: a reply in a fence of its own, in a document with fences', () => {
  const words = (from: number, to: number): string => lines(from, to).replaceAll('const ', 'Say ');
  const reply = `\`\`\`markdown\n${words(18, 22)}\`\`\`sh\n${words(23, 24)}\`\`\`\nDONE\n`;

  it('is not called verified when its last fence line may be either’s', () => {
    const harness = new SessionHarness({ target: 'a.md' });
    harness.message(`# Notes\n\n${words(1, 20)}`, { kind: 'length' });
    harness.message(reply);
    expect(harness.session.seams).toMatchObject([{ status: 'unverified' }]);
  });

  it('is verified when the fences pair up', () => {
    const harness = new SessionHarness({ target: 'a.md' });
    harness.message(`# Notes\n\n${words(1, 20)}`, { kind: 'length' });
    harness.message(reply.replace('DONE', '```\nDONE'));
    expect(harness.file).toBe(`# Notes\n\n${words(1, 22)}\`\`\`sh\n${words(23, 24)}\`\`\`\n`);
    expect(harness.session.seams).toMatchObject([{ status: 'verified' }]);
  });
});

describe('B5: a reply in a fence that a Markdown target may need', () => {
  const words = (from: number, to: number): string => lines(from, to).replaceAll('const ', 'Say ');
  const saved = `# Notes\n\n${words(1, 20)}`;

  async function answered(reply: string, answer: string): Promise<SessionHarness> {
    const harness = new SessionHarness({ target: 'a.md' });
    harness.message(saved, { kind: 'length' });
    harness.message(reply);
    expect(harness.file).toBeNull();
    await harness.wait(2000);
    harness.message(answer);
    return harness;
  }

  it('is verified, and its closing line is asked about before DONE', async () => {
    const reply = `\`\`\`text\n${words(18, 24)}\`\`\`\nDONE\n`;
    const stripped = await answered(reply, 'STRIP');
    expect(stripped.prompts.at(-1)).toBe(
      'The text for a.md begins with ```text and ends with ```.\nReply STRIP if these only wrap the file. Reply KEEP if they are part of it.',
    );
    expect(stripped.file).toBe(`# Notes\n\n${words(1, 24)}`);
    expect(stripped.aside).toContain('```text\n');
    expect(stripped.session.seams).toMatchObject([{ status: 'verified' }]);
    const kept = await answered(reply, 'KEEP');
    expect(kept.file).toBe(`# Notes\n\n${words(1, 24)}\`\`\`\n`);
  });

  it.each([
    ['all text', words(21, 24)],
    ['a fence of the file at its end', `${words(21, 24)}\`\`\`sh\nmake\n\`\`\`\n`],
  ])('is verified, and its closing line behind DONE is set aside: %s', (_name, rest) => {
    const harness = new SessionHarness({ target: 'a.md' });
    harness.message(saved, { kind: 'length' });
    harness.message(`\`\`\`\n${words(18, 20)}${rest}DONE\n\`\`\`\n`);
    expect(harness.prompts).toHaveLength(1);
    expect(harness.file).toBe(`${saved}${rest}`);
    expect(harness.aside).toContain('```\n');
    expect(harness.session.seams).toMatchObject([{ status: 'verified' }]);
  });

  it('is asked about where a line closes it on either side of DONE', () => {
    const harness = new SessionHarness({ target: 'a.md' });
    harness.message(saved, { kind: 'length' });
    harness.message(`\`\`\`text\n${words(18, 24)}\`\`\`\nDONE\n\`\`\`\n`);
    expect(harness.file).toBeNull();
  });

  it('is not asked about with the own end marker, nor where the line closes a fence of the file', () => {
    const harness = new SessionHarness({ target: 'a.md' });
    harness.message(saved, { kind: 'length' });
    harness.message(`\`\`\`text\n${words(18, 24)}\`\`\`\nDONE 7f3a\n`);
    expect(harness.file).toBe(`# Notes\n\n${words(1, 24)}`);

    const inFence = new SessionHarness({ target: 'a.md' });
    inFence.message(`# Notes\n\n\`\`\`sh\n${words(1, 20)}`, { kind: 'length' });
    inFence.message(`\`\`\`sh\n${words(18, 24)}\`\`\`\nDONE\n`);
    expect(inFence.file).toBe(`# Notes\n\n\`\`\`sh\n${words(1, 24)}\`\`\`\n`);
  });
});

describe('R031: a stream that breaks', () => {
  const broken = {
    kind: 'error',
    code: 'STREAM_BROKEN',
    message: 'The connection broke.',
    retryable: true,
  } as const;

  it('never finalizes after a bare DONE: it goes to the idle prompt', async () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(`${lines(1, 5)}DONE\n`, broken);
    expect([harness.file, harness.prompts.length]).toEqual([null, 0]);
    expect(harness.content).toBe(lines(1, 5));
    await harness.wait(2000);
    harness.message('DONE');
    expect(harness.file).toBe(lines(1, 5));
  });

  it('is continued at once otherwise', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 5), broken);
    expect(harness.prompts[0]).toMatch(/^Your message was cut off\./);
    harness.message(`${lines(4, 5)}${lines(6, 9)}DONE`);
    expect(harness.file).toBe(lines(1, 9));
  });

  it('pauses at once when the error cannot pass', () => {
    const harness = new SessionHarness();
    harness.message('text\n', { ...broken, code: 'PROVIDER_AUTH', retryable: false });
    expect([harness.state, harness.record.code]).toEqual([
      'session_active.paused',
      'PROVIDER_AUTH',
    ]);
  });

  it('is repeated three times when nothing arrived', () => {
    const harness = new SessionHarness();
    for (let request = 0; request < 4; request += 1) harness.message('', broken);
    expect([harness.resends, harness.state]).toEqual([3, 'session_active.paused']);
  });
});

describe('R039: replies to an idle prompt', () => {
  const start = async (): Promise<SessionHarness> => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 5));
    await harness.wait(2000);
    return harness;
  };

  it('(a) only a marker finalizes', async () => {
    const harness = await start();
    expect(harness.prompts[0]).toContain("If you're finished, reply DONE on its own line.");
    harness.message('DONE');
    expect(harness.file).toBe(lines(1, 5));
  });

  it('(a) with talk beside it, which is kept aside (R270)', async () => {
    const harness = await start();
    harness.message('Yes, finished.\nDONE');
    expect([harness.file, harness.aside]).toEqual([lines(1, 5), 'Yes, finished.\n']);
    expect(harness.session.seams).toEqual([]);
  });

  it('(c) a few lines without the anchor are asked about: DONE leaves them out', async () => {
    const harness = await start();
    harness.message('All good.');
    expect(harness.file).toBeNull();
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(/^Your message ended with: All good\./);
    harness.message('DONE');
    expect([harness.file, harness.aside]).toEqual([lines(1, 5), 'All good.']);
    // Nothing was joined there.
    expect(harness.session.seams).toEqual([]);
  });

  it('(c) KEEP takes them', async () => {
    const harness = await start();
    harness.message('export {};\n');
    await harness.wait(2000);
    harness.message('KEEP');
    expect(harness.file).toBe(`${lines(1, 5)}export {};\n`);
    expect(harness.session.seams).toMatchObject([{ line: 6, status: 'unverified' }]);
  });

  it('(d) a longer clean one is appended, unverified', async () => {
    const harness = await start();
    harness.message(`${lines(6, 12)}DONE\n`);
    expect(harness.file).toBe(lines(1, 12));
    expect(harness.session.seams).toMatchObject([{ status: 'unverified' }]);
  });

  it('(d) is asked again under WRITE_SESSION_SEAM=strict', async () => {
    const harness = new SessionHarness({ target: 'a.ts', settings: { seam: 'strict' } });
    harness.message(lines(1, 5));
    await harness.wait(2000);
    harness.message(`${lines(6, 12)}DONE\n`);
    expect(harness.file).toBeNull();
    expect(harness.prompts[1]).toMatch(/^That message did not start with the saved lines/);
  });
});

describe('R011: the size limit', () => {
  it('takes no answer that would exceed it: the question stays open, and its text whole', async () => {
    const harness = new SessionHarness({ settings: { maxBytes: 8 } });
    harness.message('one\ntwo\n');
    await harness.wait(2000);
    harness.message('three');
    await harness.wait(2000);
    harness.message('KEEP');
    const [content, question] = [harness.content, harness.record.question];
    expect(question).toMatchObject({ kind: 'near_miss', text: 'three', heldBack: true });
    expect([content, harness.record.code, harness.session.seams]).toEqual([
      'one\ntwo\n',
      'CONTENT_TOO_LARGE',
      [],
    ]);
    harness.send({ type: 'finalize_command', answer: { kind: 'keep' } });
    expect([harness.file, harness.record.code, harness.record.question]).toEqual([
      null,
      'CONTENT_TOO_LARGE',
      question,
    ]);
    harness.send({ type: 'finalize_command', answer: { kind: 'done' } });
    expect([harness.file, harness.aside]).toEqual(['one\ntwo\n', 'three']);
  });

  it('accepts exactly the limit and keeps what fits', () => {
    const exact = new SessionHarness({ settings: { maxBytes: 10 } });
    exact.message('123456789\nDONE');
    expect(exact.file).toBe('123456789\n');
    const over = new SessionHarness({ settings: { maxBytes: 10 } });
    over.message('12345678é\nDONE');
    expect([over.state, over.record.code]).toEqual(['session_active.paused', 'CONTENT_TOO_LARGE']);
    expect(over.content).toBe('12345678é');
  });
});

describe('R034: the end marker', () => {
  it('ends at once; what follows is chat', () => {
    const harness = new SessionHarness();
    harness.message('one\nDONE 7f3a\nThat is all.\n');
    expect([harness.file, harness.chat]).toEqual(['one\n', 'That is all.\n']);
  });

  it('shows what follows it as it came, whatever line endings the file gets', () => {
    const reply = 'one\ntwo\nDONE 7f3a\nThat is\nall.\n';
    for (const pieces of [[reply], [...reply]]) {
      const harness = new SessionHarness();
      harness.message('one\r\ntwo\r\n', { kind: 'length' });
      harness.message(pieces);
      expect([harness.file, harness.chat]).toEqual(['one\r\ntwo\r\n', 'That is\nall.\n']);
    }
  });

  it('alone counts in strict mode', () => {
    const harness = new SessionHarness({ settings: { strict: true } });
    harness.message('one\nDONE\ntwo\nDONE 7f3a\n');
    expect(harness.file).toBe('one\nDONE\ntwo\n');
  });
});

describe('R031: an adapter without an orderly end of message', () => {
  it('finalizes 250 ms after the marker; new text cancels that', async () => {
    const harness = new SessionHarness({ settings: { signalsMessageEnd: false } });
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: 'one\nDONE\n' });
    await harness.wait(249);
    harness.send({ type: 'text', text: 'two\n' });
    await harness.wait(1000);
    expect(harness.file).toBeNull();
    harness.send({ type: 'text', text: 'DONE\n' });
    await harness.wait(250);
    expect(harness.file).toBe('one\nDONE\ntwo\n');
  });
});

describe('R029: final_newline false', () => {
  it('leaves out the one line ending before the marker', () => {
    const unix = new SessionHarness({ finalNewline: false });
    unix.message('one\ntwo\n\nDONE');
    expect(unix.file).toBe('one\ntwo\n');
    const windows = new SessionHarness({ finalNewline: false });
    windows.message('one\r\ntwo\r\nDONE');
    expect(windows.file).toBe('one\r\ntwo');
  });

  it.each<[string, string, string]>([
    ['an LF after a line with a CRLF', 'one\r\ntwo\nDONE', 'one\r\ntwo'],
    ['a CRLF after a line with an LF', 'one\ntwo\r\nDONE', 'one\ntwo'],
    ['a CRLF in a fence with LFs', '```py\nx\r\n```\nDONE', 'x'],
    ['an LF in a fence with CRLFs', '```py\r\nx\n```\r\nDONE', 'x'],
  ])('leaves out that line ending whatever the others are: %s', (_name, text, file) => {
    const harness = new SessionHarness({ finalNewline: false, target: 'a.py' });
    harness.message(text);
    expect(harness.file).toBe(file);
  });

  it.each<[string, string, string]>([
    ['before a DONE behind blanks', 'one\ntwo DONE', 'one\ntwo'],
    ['before a DONE behind a character of four bytes', 'one\ntwo😀DONE', 'one\ntwo😀'],
    ['in a text of one line', 'two DONE', 'two'],
  ])('leaves out nothing of a line that the file ends in: %s', async (_name, text, file) => {
    const asked = new SessionHarness({ finalNewline: false });
    asked.message(text);
    await asked.wait(2000);
    asked.message('DONE');
    expect(asked.file).toBe(file);
    const byHand = new SessionHarness({ finalNewline: false });
    byHand.message(text);
    byHand.send({ type: 'cancelled' });
    byHand.send({ type: 'finalize_command', answer: { kind: 'done' } });
    expect(byHand.file).toBe(file);
  });
});

describe('a commit that fails', () => {
  it('is repeated twice after 1000 ms for a passing reason, then paused', async () => {
    const harness = new SessionHarness();
    harness.message('one\nDONE');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      harness.file = null;
      harness.send({
        type: 'finalize_failed',
        code: 'DISK_FULL',
        message: 'full',
        retryable: true,
      });
      await harness.wait(999);
      expect(harness.file).toBeNull();
      await harness.wait(1);
      expect(harness.file).toBe('one\n');
    }
    harness.send({ type: 'finalize_failed', code: 'DISK_FULL', message: 'full', retryable: true });
    expect([harness.state, harness.record.code]).toEqual(['session_active.paused', 'DISK_FULL']);
  });

  it('is paused at once for a refusal', () => {
    const harness = new SessionHarness();
    harness.message('one\nDONE');
    harness.send({
      type: 'finalize_failed',
      code: 'TARGET_CHANGED',
      message: 'x',
      retryable: false,
    });
    expect(harness.record.code).toBe('TARGET_CHANGED');
  });
});

describe('R057: a disk that cannot be written', () => {
  it('is tried again every 30 s while the session goes on', async () => {
    const harness = new SessionHarness();
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: 'one\n' });
    await harness.wait(5000);
    harness.send({ type: 'save_failed' });
    expect(harness.saves).toBe(1);
    await harness.wait(29_999);
    expect(harness.saves).toBe(1);
    await harness.wait(1);
    expect(harness.saves).toBe(2);
  });
});

describe('cancelling', () => {
  it('discards a held marker, saves and pauses', () => {
    const harness = new SessionHarness();
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: 'one\nDONE\n' });
    harness.send({ type: 'cancelled' });
    expect([harness.state, harness.content, harness.ended]).toEqual([
      'session_active.paused',
      'one\n',
      'released',
    ]);
  });

  it('keeps undecided text aside', () => {
    const harness = new SessionHarness({ target: 'a.ts' });
    harness.message(lines(1, 5), { kind: 'length' });
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: 'const value5' });
    harness.send({ type: 'cancelled' });
    expect(harness.aside).toBe('const value5');
  });
});
