import { DEFAULT_SETTINGS } from '@orion/agent';

import { formatCount } from '../../terminal/format.ts';
import type { ChatCommand } from './command.ts';
import { table } from './command.ts';

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ['Enter', 'sends; during a turn it waits for the end of it'],
  ['Shift-Enter, Alt-Enter, Ctrl-J, \\ Enter', 'new line'],
  ['Up, Down', 'earlier prompts; Up takes a waiting one back'],
  ['Ctrl-R', 'searches earlier prompts'],
  ['Tab', 'completes commands, @files and ids'],
  ['Ctrl-G', 'the prompt in $VISUAL or $EDITOR'],
  ['Esc', 'stops the turn'],
  ['Ctrl-C', 'stops the turn; clears what is typed; twice leaves'],
  ['Ctrl-D', 'leaves'],
  ['Ctrl-Z', 'suspends'],
];

const help: ChatCommand = {
  name: 'help',
  argument: '',
  summary: 'keys and commands',
  beside: true,
  run(tools) {
    const rows = tools.commands.map(({ name, argument, summary }) => [
      `/${name}${argument === '' ? '' : ` ${argument}`}`,
      summary,
    ]);
    table(tools, [...(tools.isPlain ? PLAIN_KEYS : KEYS), ...rows]);
    tools.line('A prompt that begins with a slash is typed with two: //etc is a folder.', 'faint');
    return Promise.resolve();
  },
};

const PLAIN_KEYS: typeof KEYS = [
  ['Enter', 'sends; during a turn it waits for the end of it'],
  ['\\ Enter', 'the text goes on in the next line'],
  ['"""', 'begins and ends a text of several lines'],
  ['Ctrl-C', 'stops the turn; twice leaves'],
  ['Ctrl-D', 'leaves'],
];

const status: ChatCommand = {
  name: 'status',
  argument: '',
  summary: 'provider, model, limits, state directory, store, trust',
  beside: true,
  run(tools) {
    const { configuration, orion, turns } = tools;
    const { choices, facts } = turns;
    const { provider, settings } = configuration;
    const { inputTokens, outputTokens } = facts.usage;
    const limits = { ...DEFAULT_SETTINGS, ...settings };
    table(tools, [
      ['provider', provider.type ?? 'openai'],
      ...(provider.baseUrl === undefined ? [] : [['address', provider.baseUrl]]),
      ['model', choices.model ?? 'none'],
      ['mode', choices.mode],
      ['protocol', choices.protocol ?? configuration.protocol],
      ['changes of files', APPROVALS[choices.approve]],
      ['conversation', turns.conversationId ?? 'new'],
      ['tokens', `${formatCount(inputTokens)} sent, ${formatCount(outputTokens)} received`],
      ...LIMITS.map(([name, label]) => [label, formatLimit(limits[name])]),
      ['workspace', configuration.workspace],
      ['its orion.config.json', TRUST[configuration.workspaceFile]],
      ['state directory', orion.stateDirectory],
      [
        'store',
        (settings.databaseUrl ?? null) === null ? 'orion.db in the state directory' : 'Postgres',
      ],
    ]);
    return Promise.resolve();
  },
};

const APPROVALS = {
  auto: 'made without asking',
  ask: 'asked about',
  never: 'refused',
} as const;

const TRUST = {
  none: 'there is none',
  accepted: 'accepted',
  not_accepted: 'not accepted; `orion trust` does it',
  changed: 'changed since it was accepted; `orion trust` accepts it again',
} as const;

const LIMITS = [
  ['maxTurns', 'model calls of a turn, at most'],
  ['maxSeconds', 'seconds of a turn, at most'],
  ['maxTokens', 'tokens of a turn, at most'],
  ['maxBytes', 'bytes of a file, at most'],
] as const;

function formatLimit(limit: number | null): string {
  return limit === null ? 'none' : formatCount(limit);
}

const exit: ChatCommand = {
  name: 'exit',
  argument: '',
  summary: 'leaves',
  beside: true,
  run: (tools) => Promise.resolve(tools.leave()),
};

export const helpCommands: readonly ChatCommand[] = [help, status];
export const leaveCommands: readonly ChatCommand[] = [exit];
