import { defined } from '@orion/contracts';

import { converse } from '../chat/chat.ts';
import { chooseFace, openFace } from '../chat/open-face.ts';
import type { TurnOptions } from '../command-line/options.ts';
import { usage } from '../command-line/usage.ts';
import type { CommandContext } from '../process/context.ts';
import type { CommandResult } from '../process/finish.ts';
import { configure } from './configure.ts';
import { requireProviderAtStart } from './first-start.ts';

export type ChatOptions = TurnOptions & { readonly bell?: boolean };

/** `orion chat`: a conversation on this terminal, until the person leaves. */
export async function chatCommand(
  context: CommandContext,
  options: ChatOptions,
): Promise<CommandResult> {
  const { bell, ...turnOptions } = options;
  const { stdin, stdout: output, environment } = context;
  const noBell = bell === false ? true : undefined;
  const configuration = await configure(context, { ...turnOptions, ...defined({ noBell }) });
  const kind = chooseFace({ plain: configuration.plain, environment, stdin, output });
  if (kind === 'none') {
    throw usage(
      'A conversation needs a terminal to type on.',
      'For one turn without a terminal: orion run "Write a README"',
    );
  }
  requireProviderAtStart(configuration);
  const colors = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  const isPlain = kind === 'plain';
  return converse({
    context,
    configuration,
    isPlain,
    openFace: (needs) =>
      openFace(kind, { ...needs, stdin, output, environment, colors, bell: !configuration.noBell }),
  });
}
