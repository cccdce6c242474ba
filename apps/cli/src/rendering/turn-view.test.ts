import type { RunEvent } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { createScreen } from '../terminal/screen.ts';
import { chunk, content, done, event, PAUSED, RECEIPT, session } from '../testing/events.ts';
import { createFakeOutput } from '../testing/fake-output.ts';
import { shellWording } from './wording.ts';
import { createJsonView, createTerminalView } from './turn-view.ts';

type Options = {
  readonly terminal?: boolean;
  readonly quiet?: boolean;
  readonly showContent?: boolean;
  readonly json?: boolean;
  /** Milliseconds between two events. */
  readonly pace?: number;
  readonly columns?: number;
  readonly place?: string;
};

function show(events: readonly RunEvent[], options: Options = {}): { out: string; err: string } {
  const { terminal = false, quiet = false, showContent = false, json = false, pace = 1 } = options;
  const place = { terminal, columns: options.columns ?? 200 };
  const stdout = createFakeOutput(place);
  const stderr = createFakeOutput(place);
  const screen = createScreen({ stdout, stderr, colors: false });
  let time = 0;
  const now = (): number => time;
  const beside = createTerminalView({
    screen: { ...screen, content: (text: string) => screen.text(text) },
    quiet: quiet || json,
    showContent,
    wording: shellWording(options.place ?? ''),
    now,
  });
  const view = json ? createJsonView({ stdout, showContent, beside }) : beside;
  for (const next of events) {
    void view.show(next);
    time += pace;
  }
  view.end();
  return { out: stdout.written(), err: stderr.written() };
}

const FILE = [
  session(),
  content('line 1\n'),
  content('line 2\n', 7),
  session({ status: 'session_active.finalizing', bytes: 14, lines: 2, durableBytes: 14 }),
  session({ status: 'done', bytes: 14, lines: 2, durableBytes: 14, receipt: RECEIPT }),
];

it.each([false, true])('says of text that is void that it is, quiet: %s', (quiet) => {
  const rewind = event({ type: 'rewind', toSeq: 1 });
  const { out, err } = show([chunk('half an ans'), rewind, chunk('an answer'), done()], { quiet });
  // What went into a pipe stays exactly what was said.
  expect(out).toBe('half an ansan answer');
  expect(err).toContain('what it said last is void');
});

describe('where what is shown goes (R077)', () => {
  it('keeps the model’s exact text on a stdout that is no terminal, and all else on stderr', () => {
    const text = 'Hello \u001B[31mred\r\n\u202E';
    const { out, err } = show([chunk(text), chunk('a notice', 'notice'), ...FILE, done()]);
    expect(out).toBe(text);
    expect(err).toBe(
      'a notice\n' +
        'Writing docs/n.txt (create): what the model writes now is the file.\n' +
        'The content has ended; writing docs/n.txt.\n' +
        'Created docs/n.txt: 240 lines, 2,052 bytes, sha256 c7632900127f\n',
    );
  });

  it('shows a terminal nothing that it would obey (R254)', () => {
    const { out, err } = show(
      [
        chunk('a\u001B'),
        chunk(']52;c;aGk=\u0007'),
        session({ targetFile: 'n\u001B[2J.txt' }),
        event({
          type: 'error',
          error: {
            code: 'PROVIDER_ERROR',
            message: 'x\u009B31m\nfake line',
            retryable: false,
            hint: 'h\r',
          },
        }),
      ],
      { terminal: true },
    );
    expect(out).toBe('a\\x1b]52;c;aGk=\\x07\n');
    expect(err).not.toContain('\u001B');
    expect(err).toContain('n\\x1b[2J.txt');
    expect(err).toContain('orion: PROVIDER_ERROR: x\\x9b31m\\nfake line\n');
  });

  it('ends an open line of text before a line on the same terminal', () => {
    const { out } = show([chunk('I will write it.'), ...FILE, chunk('Done.\n')], {
      terminal: true,
    });
    expect(out).toBe('I will write it.\nDone.\n');
  });

  it('shows file content only when asked to', () => {
    expect(show(FILE).out).toBe('');
    expect(show(FILE, { showContent: true }).out).toBe('line 1\nline 2\n');
  });

  it('tells a failed call once, shortened, with the next step on a line of its own', () => {
    const message = `"a.txt" ${'x'.repeat(1000)}`;
    const hint = 'Allow it with --allow-path <glob>.';
    const error = { code: 'PROTECTED_PATH', message, retryable: false, hint } as const;
    const { err } = show([
      event({
        type: 'tool_result',
        callId: '1',
        toolName: 'WritePlanTool_begin',
        ok: false,
        summary: `WritePlanTool_begin failed (PROTECTED_PATH): ${message}`,
        error,
      }),
    ]);
    expect(err).toMatch(
      /^WritePlanTool_begin: PROTECTED_PATH: "a\.txt" x+…\n {2}Allow it with --allow-path <glob>\.\n$/u,
    );
    expect(Math.max(...err.split('\n').map((line) => line.length))).toBeLessThanOrEqual(500);
  });

  it('does not tell a person what the model is to do better', () => {
    const { err } = show([
      event({
        type: 'tool_result',
        callId: '1',
        toolName: 'WritePlanTool_begin',
        ok: false,
        summary: 'WritePlanTool_begin failed (FILE_EXISTS): There is a file.',
        error: {
          code: 'FILE_EXISTS',
          message: 'There is a file.',
          retryable: false,
          hint: 'Use append.',
        },
      }),
    ]);
    expect(err).toBe('WritePlanTool_begin: FILE_EXISTS: There is a file.\n');
  });

  it('tells with --quiet only what must be known', () => {
    const { err } = show(
      [
        chunk('a notice', 'notice'),
        ...FILE,
        event({ type: 'tool_result', callId: '1', toolName: 'read_file', ok: true, summary: 's' }),
        done({ status: 'stopped', stopReason: 'max_turns' }),
      ],
      { quiet: true, terminal: true },
    );
    expect(err).toBe(
      'Created docs/n.txt: 240 lines, 2,052 bytes, sha256 c7632900127f\n' +
        'The turn was stopped (max_turns).\n',
    );
  });
});

describe('progress', () => {
  it('is one line that is rewritten about ten times a second and goes away', () => {
    const chunks = Array.from({ length: 1000 }, (_, index) => content('line 1\n', index * 7));
    const { err } = show([session(), ...chunks, ...FILE.slice(3)], { terminal: true, pace: 1 });
    const updates = err.split('\r').filter((line) => line.includes('/s'));
    expect(updates.length).toBeGreaterThanOrEqual(10);
    expect(updates.length).toBeLessThanOrEqual(11);
    expect(updates.at(-1)).toMatch(
      /^docs\/n\.txt {2}1,000 lines {2}7\.0 kB {2}7\.0 kB\/s {2}all but 1\.0 s saved {2}0:01/u,
    );
    expect(err).toMatch(/\r +\rThe content has ended/u);
  });

  it('names the durable offset', () => {
    const saved = session({ bytes: 700, lines: 100, durableBytes: 350 });
    const { err } = show([session(), content('x'.repeat(700)), saved], {
      terminal: true,
      pace: 500,
    });
    expect(err).toContain('100 lines  700 B  700 B/s  all but 0.5 s saved');
  });

  it('never needs a second line', () => {
    const target = `${'漢字'.repeat(20)}.txt`;
    const { err } = show([session({ targetFile: target }), content('x')], {
      terminal: true,
      pace: 200,
      columns: 30,
    });
    for (const line of err.split('\n').at(-1)?.split('\r') ?? []) {
      expect([...line].reduce((sum, one) => sum + (one > '\u1100' ? 2 : 1), 0)).toBeLessThan(30);
    }
  });

  it.each<[string, Options]>([
    ['stderr is no terminal', {}],
    ['--quiet', { terminal: true, quiet: true }],
  ])('is not shown when %s', (_name, options) => {
    expect(show([session(), content('x'), session({ durableBytes: 1 })], options).err).not.toMatch(
      /\r/u,
    );
  });
});

describe('what a write ends with', () => {
  it('names what is saved of a paused session, where, and what goes on with it', () => {
    const { err } = show([session({ status: 'session_active.paused', paused: PAUSED })]);
    expect(err).toBe(
      'Paused (SEAM_UNVERIFIED): docs/n.txt is not written yet. 30 lines, 210 bytes are saved in ' +
        '/w/.orion/logs/write_sessions/s1\n' +
        '  orion recover-session s1\n' +
        '  orion recover-session s1 --finalize\n',
    );
  });

  it('names commands that work where the person stands', () => {
    const paused = session({ status: 'session_active.paused', paused: PAUSED });
    expect(show([paused], { place: '-C ../w' }).err).toContain(
      '  orion recover-session s1 --finalize -C ../w\n',
    );
  });

  it('says at the very end that a seam is unverified', () => {
    const seams = [
      {
        line: 26,
        status: 'unverified',
        via: 'recovery',
        lines_dropped: 0,
        text_set_aside: 0,
        conversion: 'none',
      },
    ] as const;
    const { err } = show([
      session({ status: 'done', receipt: { ...RECEIPT, seams } }),
      event({ type: 'tool_result', callId: '1', toolName: 'read_file', ok: true, summary: 's' }),
      done(),
    ]);
    expect(err.trimEnd().split('\n').at(-1)).toBe(
      'docs/n.txt has an unverified seam at line 26: check whether something is missing or repeated there.',
    );
  });

  it('tells of a write that was cancelled', () => {
    const { err } = show([session({ status: 'aborted', code: 'SESSION_ABORTED' })]);
    expect(err).toBe('docs/n.txt was not written (SESSION_ABORTED).\n');
  });
});

describe('--json (R250)', () => {
  it('prints one event a line, without file content', () => {
    const events = [chunk('Hi\n\u001B'), ...FILE, done()];
    const { out, err } = show(events, { json: true });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RunEvent);
    expect(lines).toEqual(events.filter(({ type }) => type !== 'write_chunk'));
    expect(err).toBe('Created docs/n.txt: 240 lines, 2,052 bytes, sha256 c7632900127f\n');
  });

  it('prints file content as events with --show-content', () => {
    const { out } = show(FILE, { json: true, showContent: true });
    expect(out.trimEnd().split('\n')).toHaveLength(FILE.length);
  });
});
