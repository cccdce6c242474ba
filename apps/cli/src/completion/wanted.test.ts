import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';

import { createProgram } from '../command-line/program.ts';
import { createFakeContext } from '../testing/fake-context.ts';
import { answerLines } from './complete.ts';
import { KINDS, wantedAfter, WORDS } from './wanted.ts';

const program = createProgram(createFakeContext({}), () => undefined);

function after(...words: readonly string[]) {
  const { candidates, ...wanted } = wantedAfter(program, words);
  return { ...wanted, values: candidates.map(({ value }) => value) };
}

describe('what may follow', () => {
  it.each<[string[], Partial<ReturnType<typeof after>>]>([
    [['recover-session', ''], { kind: 'sessions', values: [] }],
    [['recover-session', 'x', ''], { kind: null, values: [] }],
    [['run', ''], { kind: null, values: [] }],
    [['run', '--resume', ''], { kind: 'conversations' }],
    [['run', '--resume', 'id', ''], { kind: null }],
    [['run', '--resume=id', ''], { kind: null }],
    [['run', '--resume=i'], { kind: 'conversations', prefix: 'i' }],
    [['run', '--mode', ''], { values: ['plan', 'act'] }],
    [['run', '--mode='], { values: ['plan', 'act'], prefix: '' }],
    [['run', '--mode=act'], { values: ['plan', 'act'], prefix: 'act' }],
    [
      ['run', '--provider', 'o'],
      { values: ['openai', 'openai-responses', 'anthropic', 'scripted'], prefix: 'o' },
    ],
    // A switch takes no value.
    [['undo', '--list=x'], { kind: null, prefix: '--list=x' }],
    [['undo', '--list', ''], { kind: 'changes' }],
    [['undo', '--unknown', ''], { kind: 'changes' }],
    [['undo', '--', '-'], { kind: 'changes', prefix: '-' }],
    [['undo', '--', '--mode=x'], { kind: 'changes', prefix: '--mode=x' }],
    // An argument of one dash is one.
    [['apply-plan', '-', ''], { kind: null }],
    [['apply-plan', ''], { kind: 'files' }],
    [['recover-session', '--out', ''], { kind: 'files' }],
    [['run', '--cwd', ''], { kind: 'folders' }],
    [['run', '-C', ''], { kind: 'folders' }],
    [['run', '-C', 'a b', ''], { workspace: 'a b' }],
    [['run', '-C', '"a b"', ''], { workspace: 'a b' }],
    [['run', '-C', "'a b'", ''], { workspace: 'a b' }],
    [['run', '-C', '"', ''], { workspace: '"' }],
    [['run', '-C', 'a\\ b', ''], { workspace: 'a b' }],
    [['run', '--cwd=x', '--mode', ''], { workspace: 'x' }],
    [['run', '--model', 'x', ''], { workspace: null }],
    [['trace', ''], { values: ['list', 'show', 'export', 'help'] }],
    [['trace', 'show', ''], { kind: 'turns' }],
    [['trace', 'nothing', ''], { values: [] }],
    [['help', 'trace', ''], { values: ['list', 'show', 'export', 'help'], kind: null }],
    [['help', 'undo', ''], { values: [], kind: null }],
    [['mcp', 'test', ''], { kind: 'servers' }],
    ...['stats', 'extract', 'count', 'sample', 'read'].map(
      (question): [string[], Partial<ReturnType<typeof after>>] => [
        ['outputs', question, ''],
        { kind: 'outputs', values: [] },
      ],
    ),
    [['outputs', 'list', '--conversation', ''], { kind: 'conversations' }],
    [['trace', 'export', '--request', ''], { kind: 'turns' }],
    [['conversations', 'show', ''], { kind: 'conversations' }],
    [['run', '--protocol', ''], { values: ['standard', 'two-stage', 'controller'], kind: null }],
    [['completion', ''], { values: ['bash', 'zsh', 'fish'] }],
  ])('after %j', (words, wanted) => {
    expect(after(...words)).toMatchObject(wanted);
  });

  it('offers every command that the help shows, and no other', () => {
    expect(after('').values).toEqual(expect.arrayContaining(['run', 'undo', 'completion', 'help']));
    expect(after('').values).not.toContain('complete');
    expect(wantedAfter(program, [])).toEqual(wantedAfter(program, ['']));
    expect(wantedAfter(program, ['un']).candidates).toContainEqual({
      value: 'undo',
      description: 'restore files to what they were before a change',
    });
  });

  it('offers long options, and those of one letter after one dash', () => {
    expect(after('undo', '--l').values).toEqual(
      expect.arrayContaining(['--list', '--force', '--help', '--cwd']),
    );
    expect(after('undo', '--').values).not.toContain('-C');
    expect(after('undo', '-').values).toEqual(expect.arrayContaining(['-C', '--cwd']));
  });

  it('knows nothing of what no command has', () => {
    const names = new Set<string>();
    const visit = (command: Command, path: string): void => {
      for (const { long } of command.options) if (long !== undefined) names.add(long ?? '');
      for (const argument of command.registeredArguments) names.add(`${path} ${argument.name()}`);
      for (const inner of command.commands) visit(inner, `${path} ${inner.name()}`.trim());
    };
    visit(program, '');
    expect([...names]).toEqual(
      expect.arrayContaining([...Object.keys(KINDS), ...Object.keys(WORDS)]),
    );
  });
});

describe('the answer', () => {
  const wanted = { prefix: '', candidates: [], kind: null, workspace: null } as const;
  const candidate = (value: string, description = '') => ({ value, description });

  it('has what fits the word, with what the shell does besides', () => {
    const two = [candidate('plan', 'only reads'), candidate('act')];
    expect(answerLines({ ...wanted, prefix: 'p' }, two)).toEqual(['plan\tonly reads', ':4']);
    expect(answerLines({ ...wanted, kind: 'files' }, [])).toEqual([':0']);
    expect(answerLines({ ...wanted, kind: 'folders' }, [])).toEqual([':16']);
    expect(answerLines({ ...wanted, kind: 'sessions' }, [])).toEqual([':4']);
  });

  it('leaves out what a shell could read as more than a word', () => {
    const hostile = ['$(touch x)', '`x`', 'a b', "a'", 'a"', 'a;b', 'a\nb', 'a\tb', '', 'a\\', '*'];
    expect(
      answerLines(
        wanted,
        hostile.map((value) => candidate(value)),
      ),
    ).toEqual([':4']);
    const plain = ['--max-turns', '-C', '0f9a-b', 'a_b.c', 'two-stage'];
    expect(
      answerLines(
        wanted,
        plain.map((value) => candidate(value)),
      ),
    ).toHaveLength(6);
  });

  it('keeps a description to one harmless line', () => {
    const [line = ''] = answerLines(wanted, [candidate('x', `a\nb\tc\u001B[2J${'d'.repeat(99)}`)]);
    expect(line).toMatch(/^x\ta.*b.*c\\x1b\[2Jd+…$/u);
    expect(line.split(/[\t\n]/u)).toHaveLength(2);
    expect(line.length).toBeLessThan(80);
  });
});
