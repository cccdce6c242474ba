import { chooseProtocol } from '@orion/agent';

import { usage } from '../../command-line/usage.ts';
import type { ChatCommand } from './command.ts';

const items = (values: readonly string[]) => () =>
  Promise.resolve(values.map((value) => ({ value, label: value, detail: '' })));

const model: ChatCommand = {
  name: 'model',
  argument: '[name]',
  summary: 'the model, from the next turn on',
  beside: true,
  run: ({ turns, line }, argument) => {
    if (argument !== '') turns.choices.model = argument;
    line(`Model: ${turns.choices.model ?? 'none'}${fromNow(argument)}`);
    return Promise.resolve();
  },
};

const mode: ChatCommand = {
  name: 'mode',
  argument: 'plan|act',
  summary: 'whether files may be written, from the next turn on',
  beside: true,
  run: ({ turns, line }, argument) => {
    if (argument !== '') turns.choices.mode = oneOf(argument, ['plan', 'act']);
    line(`Mode: ${turns.choices.mode}${fromNow(argument)}`);
    return Promise.resolve();
  },
  complete: items(['plan', 'act']),
};

const protocol: ChatCommand = {
  name: 'protocol',
  argument: '[name]',
  summary: 'how a turn proceeds, from the next one on',
  beside: true,
  run: ({ turns, line, configuration }, argument) => {
    if (argument !== '') {
      turns.choices.protocol = chooseProtocol({ pinned: argument, overrideEnabled: false }).name;
    }
    line(`Protocol: ${turns.choices.protocol ?? configuration.protocol}${fromNow(argument)}`);
    return Promise.resolve();
  },
  complete: items(['standard', 'two-stage', 'controller']),
};

const approve: ChatCommand = {
  name: 'approve',
  argument: 'auto|ask|never',
  summary: 'who agrees to changes of files, from the next turn on',
  beside: true,
  run: ({ turns, line }, argument) => {
    if (argument !== '') turns.choices.approve = oneOf(argument, ['auto', 'ask', 'never']);
    line(`Changes: ${turns.choices.approve}${fromNow(argument)}`);
    return Promise.resolve();
  },
  complete: items(['auto', 'ask', 'never']),
};

export const choiceCommands: readonly ChatCommand[] = [model, mode, protocol, approve];

function fromNow(argument: string): string {
  return argument === '' ? '' : ', from the next turn on';
}

function oneOf<Value extends string>(argument: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === argument);
  if (found === undefined) {
    throw usage(`${JSON.stringify(argument)} is not one of: ${values.join(', ')}.`, 'See /help.');
  }
  return found;
}
