import type { Argument, Command, Option } from 'commander';

/** What a shell is offered for the word before the cursor. */
export type Candidate = { readonly value: string; readonly description: string };

/** Values that only the workspace knows. */
export type IdKind = 'sessions' | 'conversations' | 'changes' | 'turns' | 'outputs' | 'servers';

/** What may stand where the cursor is. `prefix` is what is typed of it already. */
export type Wanted = {
  readonly prefix: string;
  readonly candidates: readonly Candidate[];
  readonly kind: IdKind | 'files' | 'folders' | null;
  /** The workspace that the command line names; null where it is the current folder. */
  readonly workspace: string | null;
};

/** How a shell goes on after the candidates: the numbers that the scripts of this family know. */
export const DIRECTIVES = {
  /** With files, where no candidate fits. */
  files: 0,
  /** With the candidates alone. */
  none: 4,
  /** With folders. */
  folders: 16,
} as const;

/** By command and argument, or by the option of any command: what no declaration says. */
export const KINDS: Readonly<Record<string, IdKind>> = {
  'recover-session id': 'sessions',
  'undo id': 'changes',
  '--resume': 'conversations',
  '--conversation': 'conversations',
  'conversations show id': 'conversations',
  'trace show request_id': 'turns',
  '--request': 'turns',
  'outputs stats id': 'outputs',
  'outputs extract id': 'outputs',
  'outputs count id': 'outputs',
  'outputs sample id': 'outputs',
  'outputs read id': 'outputs',
  'mcp test name': 'servers',
};

/** Values that are open, so that the option cannot list them as its choices. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  '--provider': ['openai', 'openai-responses', 'anthropic', 'scripted'],
  '--protocol': ['standard', 'two-stage', 'controller'],
};

/**
 * What may follow on a command line, by the declarations that the help is made of. The last of `words` is the one before
 * the cursor, empty after a blank. Words are as they were typed, quotes included.
 */
export function wantedAfter(program: Command, words: readonly string[]): Wanted {
  const prefix = words.at(-1) ?? '';
  const typed = readWords(program, words.slice(0, -1).map(unquoted));
  const wanted = (more: Partial<Wanted>): Wanted => ({
    prefix,
    candidates: [],
    kind: null,
    workspace: typed.workspace,
    ...more,
  });
  if (typed.open !== null) return wanted(valueOf(typed.open, typed.open.long ?? ''));
  if (!typed.onlyArguments && !typed.asksForHelp) {
    const [name, value] = splitAtEquals(prefix);
    const option = value === null ? undefined : optionOf(typed.command, name);
    // The shells put the option and its `=` in front of what is completed.
    if (option !== undefined && takesValue(option)) {
      return wanted({ ...valueOf(option, option.long ?? ''), prefix: value ?? '' });
    }
    if (prefix.startsWith('-')) return wanted({ candidates: optionsOf(typed.command, prefix) });
  }
  const commands = typed.given === 0 ? commandsOf(typed.command) : [];
  const next = argumentAt(typed.command, typed.given);
  if (next === undefined || typed.asksForHelp) return wanted({ candidates: commands });
  const more = valueOf(next, `${pathOf(typed.command)} ${next.name()}`);
  return wanted({ ...more, candidates: [...commands, ...(more.candidates ?? [])] });
}

type Typed = {
  readonly command: Command;
  /** `orion help …`: only names of commands follow. */
  readonly asksForHelp: boolean;
  /** Arguments so far, without options. */
  readonly given: number;
  /** After `--`. */
  readonly onlyArguments: boolean;
  /** An option whose value comes next. */
  readonly open: Option | null;
  readonly workspace: string | null;
};

function readWords(program: Command, words: readonly string[]): Typed {
  let typed: Typed = {
    command: program,
    asksForHelp: false,
    given: 0,
    onlyArguments: false,
    open: null,
    workspace: null,
  };
  for (const word of words) typed = afterWord(typed, word);
  return typed;
}

function afterWord(typed: Typed, word: string): Typed {
  const { command, open, given } = typed;
  if (open !== null) return { ...withValue(typed, open, word), open: null };
  if (typed.onlyArguments) return { ...typed, given: given + 1 };
  if (word === '--') return { ...typed, onlyArguments: true };
  if (word.startsWith('-') && word !== '-') {
    const [name, value] = splitAtEquals(word);
    const option = optionOf(command, name);
    if (option === undefined || !takesValue(option)) return typed;
    if (value !== null) return withValue(typed, option, value);
    return option.required ? { ...typed, open: option } : typed;
  }
  const inner = given === 0 ? commandNamed(command, word) : undefined;
  if (inner?.name() === 'help') return { ...typed, asksForHelp: true };
  return inner === undefined ? { ...typed, given: given + 1 } : { ...typed, command: inner };
}

function withValue(typed: Typed, option: Option, value: string): Typed {
  return option.long === '--cwd' ? { ...typed, workspace: value } : typed;
}

function optionOf(command: Command, name: string): Option | undefined {
  return visible(command).find((option) => option.long === name || option.short === name);
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

function visible(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function optionsOf(command: Command, prefix: string): readonly Candidate[] {
  const short = prefix === '-';
  return visible(command).flatMap(({ long, short: letter, description }) => [
    ...(long === undefined || long === null ? [] : [{ value: long, description }]),
    ...(short && letter !== undefined && letter !== null ? [{ value: letter, description }] : []),
  ]);
}

function commandsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((inner) => ({ value: inner.name(), description: inner.description() }));
}

function commandNamed(command: Command, name: string): Command | undefined {
  return command
    .createHelp()
    .visibleCommands(command)
    .find((inner) => inner.name() === name || inner.aliases().includes(name));
}

function argumentAt(command: Command, index: number): Argument | undefined {
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[index] ?? (last?.variadic === true ? last : undefined);
}

/** What an option or an argument takes, by its choices, its name, or what its declaration calls it. */
function valueOf(of: Option | Argument, name: string): Pick<Wanted, 'candidates' | 'kind'> {
  const words = of.argChoices ?? WORDS[name];
  if (words !== undefined) {
    return { candidates: words.map((value) => ({ value, description: '' })), kind: null };
  }
  return { candidates: [], kind: KINDS[name] ?? placeOf(of) };
}

function placeOf(of: Option | Argument): 'files' | 'folders' | null {
  const called = 'flags' in of ? (/<([^>]+)>/u.exec(of.flags)?.[1] ?? '') : of.name();
  if (called === 'dir') return 'folders';
  return called === 'file' || called.includes('.') ? 'files' : null;
}

/** `conversations show`, without the program. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

function splitAtEquals(word: string): readonly [string, string | null] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}

/** As the shell would read it, as far as a folder's name goes. */
function unquoted(word: string): string {
  const quote = word[0];
  if ((quote === '"' || quote === "'") && word.length > 1 && word.endsWith(quote)) {
    return word.slice(1, -1);
  }
  return word.replaceAll(/\\(.)/gu, '$1');
}
