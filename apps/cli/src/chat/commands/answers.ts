import { clipboardSequence } from '../clipboard.ts';
import type { ChatCommand } from './command.ts';
import { table } from './command.ts';
import { formatCount, plural } from '../../terminal/format.ts';

const copy: ChatCommand = {
  name: 'copy',
  argument: '',
  summary: 'the last answer to the clipboard of the terminal',
  beside: true,
  run(tools) {
    const { lastAnswer } = tools.turns.facts;
    if (lastAnswer === '') {
      tools.line('There is no answer to copy yet.');
      return Promise.resolve();
    }
    const made = clipboardSequence(lastAnswer);
    if ('refused' in made) {
      tools.line(`The answer was not copied. ${made.refused}`, 'warning');
    } else {
      tools.face.emit(made.sequence);
      tools.line(
        `The answer was sent to the clipboard of the terminal: ${plural(lastAnswer.length, 'character')}. Not every terminal takes it.`,
        'faint',
      );
    }
    return Promise.resolve();
  },
};

const PARTS = {
  rules: 'rules of Orion',
  files: 'map of the files',
  instructions: 'instructions',
  tools: 'tools',
  history: 'conversation so far',
  prompt: 'prompt',
} as const;

const context: ChatCommand = {
  name: 'context',
  argument: '',
  summary: 'what the next request holds, in tokens by part',
  beside: true,
  async run(tools) {
    const { orion, turns } = tools;
    const { conversationId, choices } = turns;
    const report = await orion.describeContext({
      mode: choices.mode,
      ...(conversationId === null ? {} : { conversationId }),
    });
    const { limit, calibrated, leftOutTurns } = report;
    const share = limit === null ? '' : ` of ${formatCount(limit)}`;
    table(tools, [
      ...report.parts
        .filter(({ name }) => name !== 'prompt')
        .map(({ name, tokens }) => [PARTS[name], formatCount(tokens)]),
      ['together', `${formatCount(report.tokens)}${share}`],
    ]);
    const how = calibrated
      ? 'by what the provider counted in the latest request'
      : 'by the length of the text; after the next turn by what the provider counts';
    tools.line(`Tokens are estimated, ${how}.`, 'faint');
    if (leftOutTurns > 0) {
      tools.line(
        `${plural(leftOutTurns, 'earlier turn')} will be left out: there is no room for more.`,
      );
    }
  },
};

export const answerCommands: readonly ChatCommand[] = [copy, context];
