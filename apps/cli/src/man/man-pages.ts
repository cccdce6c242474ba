import type { EventEmitter } from 'node:events';

import type { Command } from 'commander';

import { bold, roffText, term } from './roff.ts';

/** A page of section 1. */
export type ManPage = { readonly name: string; readonly text: string };

/** A page for the program and for each of its commands, from the declarations that the help is made of. */
export function manPages(program: Command, version: string): readonly ManPage[] {
  const commands = commandsOf(program).filter((command) => command.name() !== 'help');
  return [program, ...commands].map((command) => ({
    name: `${pageOf(command)}.1`,
    text: page(command, version, commands),
  }));
}

function page(command: Command, version: string, commands: readonly Command[]): string {
  const isProgram = command.parent === null;
  const about = textBelow(command);
  const title = pageOf(command);
  return [
    `.TH ${title.toUpperCase()} 1 "" "orion ${version}" "Orion"`,
    '.SH NAME',
    `${roffText(title)} \\- ${roffText(command.description())}`,
    '.SH SYNOPSIS',
    synopsis(command),
    ...(about.prose.length === 0 ? [] : ['.SH DESCRIPTION', ...about.prose.flatMap(paragraph)]),
    ...options(command, '.SH OPTIONS'),
    ...(isProgram ? listed(commands) : commandsOf(command).flatMap(inner)),
    ...about.sections.flatMap(section),
    '.SH SEE ALSO',
    [...(isProgram ? [] : ['orion']), ...commands.filter((other) => other !== command).map(pageOf)]
      .map((other) => `${bold(other)}(1)`)
      .join(',\n'),
    '',
  ].join('\n');
}

/** `orion-run`. */
function pageOf(command: Command): string {
  return command.parent === null ? command.name() : `${pageOf(command.parent)}-${command.name()}`;
}

function commandsOf(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function synopsis(command: Command): string {
  return `${bold(nameOf(command))} ${term(command.usage())}`;
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** Arguments come first, as in the help. */
function options(command: Command, heading: string): readonly string[] {
  const help = command.createHelp();
  const items = [
    ...help
      .visibleArguments(command)
      .map(
        (argument) => [help.argumentTerm(argument), help.argumentDescription(argument)] as const,
      ),
    ...help
      .visibleOptions(command)
      .map((option) => [help.optionTerm(option), help.optionDescription(option)] as const),
  ];
  return [heading, ...items.flatMap(([name, text]) => ['.TP', term(name), roffText(text)])];
}

function listed(commands: readonly Command[]): readonly string[] {
  return [
    '.SH COMMANDS',
    ...commands.flatMap((command) => [
      '.TP',
      `${bold(pageOf(command))}(1)`,
      roffText(command.description()),
    ]),
  ];
}

/** A command of a command has its part of the page. */
function inner(command: Command): readonly string[] {
  if (command.name() === 'help') return [];
  return [
    `.SH ${roffText(nameOf(command).toUpperCase())}`,
    synopsis(command),
    ...paragraph(sentence(command.description())),
    ...options(command, '.PP').slice(1),
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

type TextBelow = {
  readonly prose: readonly string[];
  readonly sections: readonly { readonly heading: string; readonly lines: readonly string[] }[];
};

const HEADING = /^(Exit codes|Examples?|Environment):(.*)$/u;
const NAMES: Readonly<Record<string, string>> = {
  'Exit codes': 'EXIT STATUS',
  Example: 'EXAMPLES',
  Examples: 'EXAMPLES',
  Environment: 'ENVIRONMENT',
};

/** What the help of a command says below its options: Commander has it as listeners of an event. */
function textBelow(command: Command): TextBelow {
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  (command as Command & Pick<EventEmitter, 'emit'>).emit('afterHelp', {
    error: false,
    command,
    write,
  });
  const prose: string[] = [];
  const sections: { readonly heading: string; readonly lines: string[] }[] = [];
  for (const block of text.trim().split(/\n{2,}/u)) {
    if (block === '') continue;
    const [first = '', ...lines] = block.split('\n');
    const [, name = '', rest = ''] = HEADING.exec(first) ?? [];
    if (name === '') prose.push(block);
    else sections.push({ heading: NAMES[name] ?? name, lines: [rest.trim(), ...lines] });
  }
  return { prose, sections };
}

function section({ heading, lines }: TextBelow['sections'][number]): readonly string[] {
  const [first = '', ...below] = lines;
  return [
    `.SH ${heading}`,
    ...(first === '' ? [] : [roffText(first)]),
    ...(below.length === 0 ? [] : ['.nf', ...below.map((line) => roffText(line.slice(2))), '.fi']),
  ];
}

function paragraph(text: string): readonly string[] {
  return ['.PP', roffText(text)];
}
