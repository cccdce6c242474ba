import { describe, expect } from 'vitest';

import { test } from './support/test.ts';

const COMMANDS = [
  'run',
  'recover-session',
  'list-sessions',
  'clean-sessions',
  'apply-plan',
  'undo',
  'trust',
  'conversations',
  'trace',
  'outputs',
  'completion',
  'demo',
];

describe('help is an answer, not a failure', () => {
  test.concurrent.for([
    'help',
    '--help',
    ...COMMANDS.map((command) => `help ${command}`),
    ...COMMANDS.map((command) => `${command} --help`),
    'conversations help show',
    'trace help export',
  ])('orion %s: stdout, exit 0, and not a word on stderr', async (typed, { machine }) => {
    const ended = await machine.run(typed.split(' '));
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toMatch(/^Usage: orion /u);
    expect(ended.exitCode).toBe(0);
  });

  test.concurrent.for([
    [['help', 'nothing'], /There is no command 'nothing'/u],
    [['trace', 'help', 'nothing'], /There is no command 'nothing'/u],
    [['trace'], /needs to know what to do/u],
    [[], /No command was given/u],
  ] as const)('%j is still a mistake: exit 2', async ([args, message], { machine }) => {
    const ended = await machine.run(args);
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toMatch(message);
    expect(ended.stdout).toBe('');
  });
});
