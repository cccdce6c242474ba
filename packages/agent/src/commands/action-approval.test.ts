import type { CommandAction, McpAction } from '@orion/contracts';
import { beforeEach, expect, it } from 'vitest';

import { rememberTool } from '../config/known-tools.ts';
import type { OrionOptions } from '../orion.ts';
import { temporaryDirectory } from '../testing/set-up.ts';
import { actionApproval, patternWarnings } from './action-approval.ts';

type Review = NonNullable<OrionOptions['reviewAction']>;
type Settings = Parameters<typeof actionApproval>[1];

let userDirectory = '';
let workspace = '';
beforeEach(async () => {
  userDirectory = await temporaryDirectory();
  workspace = await temporaryDirectory();
});

const line = (command: string): CommandAction => ({ kind: 'command', command, folder: '/w' });

const call = (description: string, more: Partial<McpAction> = {}): McpAction => ({
  kind: 'mcp',
  server: 's',
  place: 'node server.js',
  tool: 'act',
  name: 'mcp__s__act',
  arguments: {},
  definition: { description, schema: 'b', command: 'c' },
  ...more,
});

/** A person who answers always the same, and what that person was shown. */
function person(approved: boolean) {
  const shown: (CommandAction | McpAction)[] = [];
  const signals: AbortSignal[] = [];
  const review: Review = async (action, signal) => {
    shown.push(action);
    signals.push(signal);
    return approved ? { approved } : { approved, reason: `no to ${shown.length}` };
  };
  return { review, shown, signals };
}

const turn = (requestId: string) => ({
  projectId: 'p',
  requestId,
  mode: 'act' as const,
  signal: new AbortController().signal,
});

const SETTINGS: Settings = {
  allowCommands: [],
  approveCommands: 'ask',
  allowMcpTools: [],
  sandbox: 'auto',
  allowNetwork: false,
};

function approver(review: Review | undefined, settings: Partial<Settings> = {}) {
  const approve = actionApproval(
    { review, userDirectory, workspace },
    { ...SETTINGS, ...settings },
  );
  return (action: CommandAction | McpAction | null, requestId = 'r') =>
    approve({ action, context: turn(requestId) });
}

const refused = (reason: string) => ({ approved: false, reason });

it('needs no yes for what is no action', async () => {
  expect(await approver(undefined)(null)).toEqual({ approved: true });
});

it.each<[Partial<Settings>, string, object, number]>([
  [{ allowCommands: ['npm test'] }, 'npm test', { approved: true }, 0],
  [{ allowCommands: ['npm test'] }, 'npm ci', { approved: true }, 1],
  [{ approveCommands: 'auto' }, 'npm ci', { approved: true }, 0],
  [{ approveCommands: 'never' }, 'npm ci', refused('the settings allow no command'), 0],
  [{ approveCommands: 'never', allowCommands: ['npm ci'] }, 'npm ci', { approved: true }, 0],
])(
  'with %j and a person who agrees, %j comes to %j after %d questions',
  async (settings, command, approval, questions) => {
    const { review, shown } = person(true);
    expect(await approver(review, settings)(line(command))).toEqual(approval);
    expect(shown).toHaveLength(questions);
  },
);

it('refuses where nobody can be asked, and says why', async () => {
  const approve = approver(undefined);
  expect(await approve(line('npm ci'))).toEqual(
    refused('no pattern allows it, and nobody can be asked'),
  );
  expect(await approve(call('a'))).toEqual(
    refused('the settings do not allow it by name, and nobody can be asked'),
  );
});

it('shows a person the line with the signal of its turn, and again after a yes', async () => {
  const { review, shown, signals } = person(true);
  const approve = approver(review);
  await approve(line('npm ci'));
  await approve(line('npm ci'));
  const whole = { ...line('npm ci'), sandbox: 'auto', network: false };
  expect(shown).toEqual([whole, whole]);
  expect(signals[0]).toBeInstanceOf(AbortSignal);
});

it('does not ask again in the same turn about what was refused', async () => {
  const { review, shown } = person(false);
  const approve = approver(review);
  expect(await approve(line('npm ci'))).toEqual(refused('no to 1'));
  expect(await approve(line('npm ci'))).toEqual(refused('no to 1'));
  expect(await approve(line('npm test'))).toEqual(refused('no to 2'));
  expect(await approve(line('npm ci'), 'the next turn')).toEqual(refused('no to 3'));
  expect(shown).toHaveLength(3);
});

it('does not remember every refusal of a long life', async () => {
  const { review, shown } = person(false);
  const approve = approver(review);
  for (let turn = 0; turn <= 100; turn += 1) await approve(line('npm ci'), `turn ${turn}`);
  await approve(line('npm ci'), 'turn 1');
  expect(shown).toHaveLength(101);
  await approve(line('npm ci'), 'turn 0');
  expect(shown).toHaveLength(102);
});

it('lets a name in the settings allow a tool, until what its server says of it has changed', async () => {
  const { review, shown } = person(true);
  const approve = approver(review, { allowMcpTools: ['mcp__s__act'] });
  expect(await approve(call('a'))).toEqual({ approved: true });
  expect(await approve(call('a'))).toEqual({ approved: true });
  expect(shown).toEqual([]);
  expect(await approve(call('b'))).toEqual({ approved: true });
  expect(shown).toEqual([{ ...call('b'), changed: ['description'] }]);
  // The yes counts for what was shown.
  expect(await approve(call('b'))).toEqual({ approved: true });
  expect(shown).toHaveLength(1);
});

it('does not remember a tool that was refused', async () => {
  await rememberTool(userDirectory, workspace, call('a'));
  const approve = approver(undefined, { allowMcpTools: ['mcp__s__act'] });
  const changed = call('a', { definition: { description: 'a', schema: 'x', command: 'y' } });
  for (const _ of [1, 2]) {
    expect(await approve(changed)).toEqual(
      refused('its schema and command changed since it was agreed to, and nobody can be asked'),
    );
  }
  expect(await approve(call('a'))).toEqual({ approved: true });
});

it('asks each time about a tool that the settings do not name', async () => {
  const { review, shown } = person(true);
  const approve = approver(review, { allowMcpTools: ['mcp__s__other'] });
  await approve(call('a'));
  await approve(call('a'));
  expect(shown).toEqual([call('a'), call('a')]);
  await approve(call('b'));
  expect(shown[2]).toEqual({ ...call('b'), changed: ['description'] });
});

it('knows no changes where nothing can be remembered', async () => {
  const { review, shown } = person(true);
  const approve = actionApproval(
    { review, workspace },
    { ...SETTINGS, allowMcpTools: ['mcp__s__act'] },
  );
  for (const description of ['a', 'b'])
    expect(await approve({ action: call(description), context: turn('r') })).toEqual({
      approved: true,
    });
  expect(shown).toEqual([]);
});

it('names the patterns that allow anything', () => {
  expect(patternWarnings({ allowCommands: ['npm test', 'sh *'] })).toEqual([
    'The pattern "sh *" allows any command, since sh can run other programs.',
  ]);
  expect(() => approver(undefined, { allowCommands: ['*'] })).toThrow(/does not name a program/u);
});
