import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { createFakeContext } from '../testing/fake-context.ts';
import { execute } from './execute.ts';
import { createProgram } from './program.ts';

type Told = { readonly exitCode: number; readonly out: string; readonly err: string };

async function orion(...argv: string[]): Promise<Told> {
  const context = createFakeContext({ argv });
  const { exitCode } = await execute(context);
  return { exitCode, out: context.stdout.written(), err: context.stderr.written() };
}

describe('the command line', () => {
  it.each<[string[], RegExp]>([
    [[], /No command was given[^]*orion --help/u],
    [['rnu'], /Unknown command 'rnu'[^]*Did you mean run\?/u],
    [['run', '--modle', 'x'], /Unknown option '--modle'[^]*--model/u],
    [['run', '--model'], /argument missing/u],
    [['run', '--mode', 'do', 'x'], /Allowed choices are plan, act/u],
    [['run', '--recover', 'maybe', 'x'], /Allowed choices are ask, yes, no/u],
    [['run', 'two', 'prompts'], /Too many arguments/u],
    [['recover-session'], /There is no session to recover[^]*--from/u],
    [['recover-session', 's', '--from', 'f'], /--from takes the place of the id/u],
    [['recover-session', '--from', 'f', '--discard'], /--discard is for a session/u],
    [['recover-session', '--from', 'f', '--out', 'g'], /--out is for a session/u],
    [['recover-session', 's', '--end-at', '0'], /line number, counted from 1/u],
    [['recover-session', 's', '--end-at', '1e3'], /line number/u],
    [['recover-session', 's', '--answer', 'perhaps'], /keep, strip, drop, done/u],
    [['recover-session', 's', '--on-conflict=merge'], /overwrite, keep-both/u],
    [['recover-session', 's', '--end-at', '3'], /--end-at is an answer for --finalize/u],
    [['recover-session', 's', '--finalize', '--discard'], /--finalize and --discard exclude/u],
    [['recover-session', 's', '--out', 'f', '--discard'], /--discard and --out exclude/u],
    [['clean-sessions', '--all'], /Add --yes/u],
    [['undo', 'x', '--list'], /Leave out --list/u],
    [['apply-plan'], /Missing required argument 'plan\.json'/u],
    [['apply-plan', 'p', '--approve', 'maybe'], /Allowed choices are auto, ask, never/u],
    [['run', 'x', '--approve'], /argument missing/u],
    [['conversations'], /needs to know what to do[^]*orion conversations --help/u],
    [['trace', 'shwo'], /Unknown command 'shwo'[^]*Did you mean show\?/u],
    [['trace', 'show'], /Missing required argument 'request_id'/u],
    [['run', '--resume'], /argument missing/u],
    [['run', '-C', '/nonexistent/folder', 'x'], /--cwd: there is no folder/u],
  ])(
    '%j is refused with exit code 2 and the next step',
    async (argv, message) => {
      const { exitCode, out, err } = await orion(...argv);
      expect(err).toMatch(message);
      expect(err).not.toContain('INTERNAL_ERROR');
      expect(exitCode).toBe(2);
      expect(out).toBe('');
      // The first that needs the agent loads all of it, which takes long on a busy machine.
    },
    30_000,
  );

  it.each([
    [['--help'], /Commands:[^]*Exit codes:[^]*130[^]*Examples:/u],
    [['help', 'run'], /--recover[^]*Exit codes:[^]*Examples:/u],
    [['run', '--help'], /--allow-path[^]*Examples:/u],
    [['recover-session', '--help'], /--on-conflict[^]*Examples:/u],
    [['clean-sessions', '-h'], /30 days/u],
    [['apply-plan', '-h'], /--dry-run[^]*--approve[^]*Exit codes:[^]*Examples:/u],
    [['undo', '-h'], /can itself be undone/u],
    [['list-sessions', '-h'], /orphan/u],
    [['conversations', '-h'], /receipt[^]*Examples:/u],
    [['trace', '-h'], /export[^]*Examples:/u],
    [['demo', '-h'], /no key/u],
  ])('%j helps on stdout', async (argv, text) => {
    const { exitCode, out, err } = await orion(...argv);
    expect(out).toMatch(text);
    expect(err).toBe('');
    expect(exitCode).toBe(0);
  });

  it('does not show the demo’s own server', async () => {
    expect((await orion('--help')).out).not.toContain('demo-provider');
  });
});

it.each(['run', 'recover-session'])('the reference has every option of %s', async (name) => {
  const page = new URL('../../../../docs/reference/command-line.md', import.meta.url);
  const sections = (await readFile(page, 'utf8')).split(/^## /mu);
  const section = sections.find((each) => each.includes(`\`orion ${name} [`)) ?? '';
  const documented = [...section.matchAll(/^\| `(?:-\w, )?(--[a-z-]+)/gmu)].map(
    ([, option]) => option,
  );
  const program = createProgram(createFakeContext({}), () => undefined);
  const command = program.commands.find((each) => each.name() === name);
  expect(new Set(documented)).toEqual(new Set(command?.options.map(({ long }) => long)));
});

it('help names the exit code of a conversation that there is not', async () => {
  expect((await orion('chat', '--help')).out).toContain('1 not done');
});
