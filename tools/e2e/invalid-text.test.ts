import { describe, expect } from 'vitest';
import type { RunEvent } from '@orion/contracts';
import type { Behaviour } from '@orion/llm-adapters/scripted';

import { prompts, sent } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { LAST_WORD, writePieces } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

// Half a character can only reach a file through JSON escapes: `"\ud83d"` alone in an event of the stream.
const HALF = ['A', '\uD83D', 'B\n', 'DONE'];

const CORRECTIONS = { lastUser: 'not valid text', toolChoice: 'none' } as const;

/** What the model says to the questions about invalid text, one after the other, the last one for ever. */
function replies(...texts: readonly string[]): readonly Behaviour[] {
  return texts.map((text, index) => ({
    name: `correction ${index + 1}`,
    when: CORRECTIONS,
    ...(index === texts.length - 1 ? {} : { times: 1 }),
    reply: { text },
  }));
}

function correctionsOf(events: readonly RunEvent[]) {
  return events.flatMap((event) =>
    event.type === 'write_session' && event.corrections !== undefined ? [event.corrections] : [],
  );
}

describe('A6: half a character', () => {
  longTest(
    'three replies without a correction: one U+FFFD, and the receipt says so',
    async ({ machine }) => {
      const provider = await machine.provider({
        behaviours: [...replies('sorry'), ...writePieces('a.txt', HALF), LAST_WORD],
      });
      const ended = await machine.ask(provider, ['--json']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect((await machine.read('a.txt')).toString('hex')).toBe('41efbfbd420a');
      expect(correctionsOf(ended.events())[0]).toEqual({
        attempt: 1,
        max_attempts: 3,
        invalid_found: 1,
        places: [
          {
            index: 1,
            position: 1,
            byte_offset: 1,
            byte_length: 3,
            line: 1,
            column: 2,
            code: 'surrogate',
          },
        ],
      });
      expect(prompts(provider.requests)).toEqual(
        Array.from({ length: 3 }, () => expect.stringContaining('#1 (line 1): A⟦1⟧B')),
      );
      expect(ended.result().receipts[0]?.validation_summary).toEqual({
        attempts: 3,
        invalid_found: 1,
        corrected: 0,
        replaced: 1,
        used_safe_replacement: true,
        replaced_at: [{ line: 1, column: 2, byte_offset: 1 }],
        original_length: 6,
        final_length: 6,
      });
      // The reply is never content, and nothing of it is shown as the answer.
      expect(ended.stdout).not.toContain('sorry');
      expect(await machine.sessions()).toEqual([]);
    },
  );

  test.concurrent('a correction makes the file whole in one round', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [...replies('#1: -'), ...writePieces('a.txt', HALF), LAST_WORD],
    });
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('A-B\n');
    expect(ended.result().receipts[0]?.validation_summary).toEqual({
      attempts: 1,
      invalid_found: 1,
      corrected: 1,
      replaced: 0,
      used_safe_replacement: false,
      original_length: 6,
      final_length: 4,
    });
    const trace = await machine.run(['trace', 'show', ended.result().requestId ?? '', '--json']);
    expect(trace.stdout).toContain('write_session_corrections_requested');
    expect(trace.stdout).not.toContain('A⟦1⟧B');
  });

  longTest(
    'R093: both halves, whatever the events, are a character and no question',
    async ({ machine }) => {
      const provider = await machine.provider({
        behaviours: [...writePieces('a.txt', ['\uD83D', '\uDE00', '\nDONE']), LAST_WORD],
      });
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect((await machine.read('a.txt')).toString('hex')).toBe('f09f98800a');
      expect(prompts(provider.requests)).toEqual([]);
    },
  );
});

describe('R096 to R100: several places', () => {
  const many = Array.from({ length: 25 }, (_, index) => [`line ${index + 1} `, '\uDC00', '\n']);

  longTest(
    'twenty in a round; what is missing is asked again, the rest after it',
    async ({ machine }) => {
      const first = Array.from({ length: 20 }, (_, index) => `#${index + 1}: ${index + 1}`)
        .filter((line) => !line.startsWith('#7:'))
        .join('\n');
      const second = ['#1: seven', '#2:', ...[3, 4, 5, 6].map((n) => `#${n}: x`)].join('\n');
      const provider = await machine.provider({
        behaviours: [
          ...replies(first, second),
          ...writePieces('a.txt', [...many.flat(), 'DONE']),
          LAST_WORD,
        ],
      });
      const ended = await machine.ask(provider, ['--json']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      const expected = many.map((_, index) => {
        const n = index + 1;
        if (n === 7) return 'line 7 seven\n';
        if (n === 21) return 'line 21 \n';
        return n <= 20 ? `line ${n} ${n}\n` : `line ${n} x\n`;
      });
      expect(String(await machine.read('a.txt'))).toBe(expected.join(''));
      const asked = prompts(provider.requests);
      expect(asked).toHaveLength(2);
      expect(asked[0]).toContain('20 places in a.txt');
      expect(asked[1]).toContain('#1 (line 7): line 7 ⟦1⟧');
      expect(asked[1]).toContain('#6 (line 25): line 25 ⟦6⟧');
      expect(ended.result().receipts[0]?.validation_summary).toMatchObject({
        attempts: 2,
        invalid_found: 25,
        corrected: 25,
        replaced: 0,
      });
    },
  );

  longTest('corrections of a round are kept when the others fail', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [
        ...replies('#2: ok', 'no idea'),
        ...writePieces('a.txt', ['\0', '-', '\uDC00', '-', '\uD800', '\nDONE']),
        LAST_WORD,
      ],
    });
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('\ufffd-ok-\ufffd\n');
    expect(ended.result().receipts[0]?.validation_summary).toMatchObject({
      attempts: 3,
      invalid_found: 3,
      corrected: 1,
      replaced: 2,
      replaced_at: [
        { line: 1, column: 1 },
        { line: 1, column: 6 },
      ],
    });
  });

  longTest('a stream that breaks and a reply that is cut are rounds too', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [
        {
          name: 'broken',
          when: CORRECTIONS,
          times: 1,
          reply: { text: '#1: broken off' },
          faults: [{ kind: 'disconnect', at: { characters: 8 } }],
        },
        {
          name: 'cut',
          when: CORRECTIONS,
          times: 1,
          reply: { text: '#1: cut off' },
          faults: [{ kind: 'length', at: { characters: 8 } }],
        },
        ...replies('#1: +'),
        ...writePieces('a.txt', HALF),
        LAST_WORD,
      ],
    });
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('A+B\n');
    expect(ended.result().receipts[0]?.validation_summary).toMatchObject({
      attempts: 3,
      corrected: 1,
    });
  });
});

describe('R098: a session that was interrupted while it was corrected', () => {
  const stalling: Behaviour = {
    name: 'stall',
    when: CORRECTIONS,
    times: 1,
    reply: { text: '#2: lost' },
    faults: [{ kind: 'stall', at: { characters: 3 } }],
  };

  test.concurrent('killed in the second round: the first one’s corrections and the count are kept', async ({
    machine,
  }) => {
    const provider = await machine.provider({
      behaviours: [
        { ...replies('#2: two')[0], times: 1 } as Behaviour,
        stalling,
        ...replies('sorry', '#1: one'),
        ...writePieces('a.txt', ['\uD83D', '-', '\uDC00', '\nDONE']),
        LAST_WORD,
      ],
    });
    const command = machine.startAsking(provider, ['--json']);
    await command.waitForEvent(
      'the second round',
      (event) => event.type === 'write_session' && event.corrections?.attempt === 2,
    );
    const [session] = await machine.sessions();
    await waitFor('the second round in state.json', async () => {
      const state = await session?.json('state.json');
      const repair = state?.['repair'] as { readonly rounds: readonly unknown[] } | undefined;
      return repair?.rounds.length === 1 && state?.['state'] === 'session_active.needs_corrections';
    });
    command.kill('SIGKILL');
    await command.finished;
    expect(await session?.json('state.json')).toMatchObject({
      repair: { found: 2, rounds: [[{ start: 4, end: 7, text: 'two' }]], replace: false },
    });

    const recovered = await machine.run(['recover-session', session?.id ?? '', '--json']);
    expect(recovered.exitCode, recovered.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('one-two\n');
    expect(recovered.result().receipts[0]?.validation_summary).toMatchObject({
      attempts: 3,
      invalid_found: 2,
      corrected: 2,
      replaced: 0,
    });
    // Two rounds before the kill, one of them unanswered, two after it.
    expect(
      sent(provider.requests).filter((request) => request.tool_choice === 'none'),
    ).toHaveLength(5);
  });

  longTest('cancelled, then written by hand: no model is asked', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [stalling, ...writePieces('a.txt', HALF), LAST_WORD],
    });
    const command = machine.startAsking(provider, ['--json']);
    await command.waitForEvent(
      'the first round',
      (event) => event.type === 'write_session' && event.corrections !== undefined,
    );
    command.kill('SIGINT');
    const ended = await command.finished;
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(await machine.exists('a.txt')).toBe(false);
    const [session] = await machine.sessions();
    expect((await session?.content())?.toString('hex')).toBe('41eda0bd420a');

    const asked = provider.requests.length;
    const finalized = await machine.run([
      'recover-session',
      session?.id ?? '',
      '--finalize',
      '--json',
    ]);
    expect(finalized.exitCode, finalized.stderr).toBe(0);
    expect((await machine.read('a.txt')).toString('hex')).toBe('41efbfbd420a');
    expect(finalized.result().receipts[0]?.validation_summary).toMatchObject({
      attempts: 0,
      invalid_found: 1,
      replaced: 1,
    });
    expect(provider.requests).toHaveLength(asked);
  });
});

describe('what a provider is sent', () => {
  longTest('is well-formed text, whatever the file holds so far', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [...replies('#1: -'), ...writePieces('a.txt', HALF), LAST_WORD],
    });
    const ended = await machine.run(['run', 'Write it.', ...at(provider)]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    for (const request of sent(provider.requests)) {
      for (const message of request.messages) {
        expect(String(message.content ?? '').isWellFormed()).toBe(true);
      }
    }
  });
});
