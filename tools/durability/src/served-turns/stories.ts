/** Turns that a server is asked for, and what must be there after each of them, whatever happened meanwhile. */
import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Behaviour, Script, Shape } from '@orion/llm-adapters/scripted';

export type Story = {
  readonly name: string;
  readonly script: Script;
  /** What the workspace holds before, by path. */
  readonly before: Readonly<Record<string, string>>;
  /** And after. */
  readonly after: Readonly<Record<string, string>>;
  /** What the model says, without what is void. */
  readonly says: string;
  /** A file to which a command adds a letter each time it runs. */
  readonly countsRuns?: string;
};

/** Slow enough that a kill after an event finds the next one on its way. */
const FLOW: Shape = { chunk: { min: 10, max: 30 }, eventsPerSecond: 250 };

/** Slow enough that its text takes several events. */
const TALK: Shape = { chunk: { min: 5, max: 9 }, eventsPerSecond: 25 };

const lines = (word: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${word} ${index + 1}: what is written once\n`).join(
    '',
  );

const LONG = lines('Line', 130);
const INSERTED = lines('// note', 40);
const CODE = 'function one() {}\n\nfunction two() {}\n';

const document = (target: string, text: string, toolResults: number): Behaviour => ({
  name: `the text of ${target}`,
  when: { toolResults, toolChoice: 'none' },
  shape: FLOW,
  reply: { document: { target, content: { kind: 'text', text } } },
});

const calls = (
  toolResults: number,
  text: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Behaviour => ({
  name: `${name} after ${toolResults} results`,
  when: { toolResults, toolChoice: 'auto' },
  shape: FLOW,
  reply: { text, toolCalls: [{ name, arguments: args }] },
});

const lastWord = (text: string, shape: Shape = FLOW): Behaviour => ({
  name: 'last word',
  shape,
  reply: { text },
});

const LOOKING = 'I look at what is there before I begin with anything. ';
const BEGINNING = 'Now I write the file. ';
const INSERTING = 'And a note goes into the code, before the second function. ';
const DONE = 'Everything is in its place, and nothing is left to do.';

export const STORIES: readonly Story[] = [
  {
    name: 'words',
    before: { 'a.txt': 'a\n' },
    after: { 'a.txt': 'a\n' },
    says: LOOKING + DONE,
    script: {
      behaviours: [calls(0, LOOKING, 'list_files', { path: '.' }), lastWord(DONE, TALK)],
    },
  },
  {
    name: 'files',
    before: { 'code.js': CODE },
    after: {
      'notes/long.md': LONG,
      'code.js': CODE.replace('function two', `${INSERTED}function two`),
    },
    says: BEGINNING + INSERTING + DONE,
    script: {
      behaviours: [
        document('notes/long.md', LONG, 1),
        document('code.js', INSERTED, 2),
        calls(0, BEGINNING, BEGIN_TOOL_NAME, {
          intent: 'a long file',
          target_file: 'notes/long.md',
          operation: 'create',
        }),
        calls(1, INSERTING, BEGIN_TOOL_NAME, {
          intent: 'a note',
          target_file: 'code.js',
          operation: 'insert',
          location: { marker: 'function two', position: 'before' },
        }),
        lastWord(DONE),
      ],
    },
  },
  {
    name: 'command',
    before: { 'count.sh': 'printf x >> runs.txt\nsleep 0.3\n' },
    after: { 'count.sh': 'printf x >> runs.txt\nsleep 0.3\n' },
    says: LOOKING + DONE,
    countsRuns: 'runs.txt',
    script: {
      behaviours: [calls(0, LOOKING, 'run_command', { command: 'sh count.sh' }), lastWord(DONE)],
    },
  },
];

/** What the server is started with so that it may run the command. */
export const ALLOWED_COMMAND = 'sh count.sh';
