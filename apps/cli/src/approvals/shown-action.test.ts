import type { CommandAction, McpAction } from '@orion/contracts';
import { expect, it } from 'vitest';

import { shownAction, TOO_LONG } from './shown-action.ts';

/** Hazard: a person agrees to run what was not shown, or not all of it. R283, B18. */

const command = (line: string): CommandAction => ({
  kind: 'command',
  command: line,
  folder: '/w\u202es',
});

it('shows a line and where it runs, and asks about both', () => {
  expect(shownAction(command('npm test \u001b[2J'))).toEqual({
    intro: [String.raw`A command is about to run in /w\u202es:`],
    lines: [String.raw`npm test \x1b[2J`],
    question: String.raw`Run it in /w\u202es? What it changes cannot be undone.`,
  });
});

it('asks about all lines of a command', () => {
  expect(shownAction(command('cd a\n\nls'))).toMatchObject({
    lines: ['cd a', '', 'ls'],
    question: String.raw`Run these 3 lines in /w\u202es? What it changes cannot be undone.`,
  });
});

it('does not ask about what is too long to review', () => {
  expect(shownAction(command('a\n'.repeat(199)))?.lines).toHaveLength(200);
  expect(shownAction(command('a\n'.repeat(200)))).toBeNull();
  expect(shownAction(command('a'.repeat(16_000)))?.lines).toEqual(['a'.repeat(16_000)]);
  expect(shownAction(command('a'.repeat(16_001)))).toBeNull();
  expect(shownAction(command(`${'a'.repeat(8_000)}\n${'b'.repeat(8_000)}`))).not.toBeNull();
  expect(shownAction(command(`${'a'.repeat(8_001)}\n${'b'.repeat(8_000)}`))).toBeNull();
  // Counted as it is shown: an escape takes more room than its character.
  expect(shownAction(command('\u0007'.repeat(4_001)))).toBeNull();
  expect(TOO_LONG).toBe('it is too long to review: more than 200 lines or 16,000 characters');
});

const call: McpAction = {
  kind: 'mcp',
  server: 'made',
  place: '/bin/m\u202eade',
  tool: 'a\u0007ct',
  name: 'mcp__made__act',
  arguments: { what: ['x', '\u202e'] },
  definition: { description: '', schema: '', command: '' },
};

it('shows a call of a tool with its server and its arguments', () => {
  expect(shownAction(call)).toEqual({
    intro: [
      String.raw`The tool a\x07ct of the MCP server made is about to be called.`,
      String.raw`Server: /bin/m\u202eade`,
      'Arguments:',
    ],
    lines: ['{', '  "what": [', '    "x",', String.raw`    "\u202e"`, '  ]', '}'],
    question: String.raw`Call a\x07ct of made with these arguments? What it changes cannot be undone.`,
  });
});

it('says what has changed of a tool since a person agreed to it', () => {
  expect(shownAction({ ...call, changed: ['schema', 'command'] })?.intro[2]).toBe(
    'Since you last agreed to this tool, its schema and command changed.',
  );
});

const shown = (line: string) => shownAction(command(line))?.lines;

it.each([1, 2])('shows %d blank lines as they are', (count) => {
  expect(shown(`a${'\n'.repeat(count + 1)}b`)).toEqual(['a', ...Array(count).fill(''), 'b']);
});

it.each(['', ' ', '\t'])('counts more of them, each %j, and shows all of the line', (blank) => {
  expect(shown(`rm x${`\n${blank}`.repeat(150)}\nnpm test`)).toEqual([
    'rm x',
    '[150 blank lines]',
    'npm test',
  ]);
  expect(shown(`${`${blank}\n`.repeat(3)}a${`\n${blank}`.repeat(3)}`)).toEqual([
    '[3 blank lines]',
    'a',
    '[3 blank lines]',
  ]);
});

it('shows no line of more than 200 lines, blank or not', () => {
  expect(shown('\n'.repeat(199))).toEqual(['[200 blank lines]']);
  expect(shown('\n'.repeat(200))).toBeUndefined();
});
