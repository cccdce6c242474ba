import type { RecoverChoice } from '@orion/agent';
import { defined } from '@orion/contracts';

import { usage } from '../command-line/usage.ts';
import type { TurnOptions } from '../command-line/options.ts';
import { wantsResultLine } from '../command-line/json-wanted.ts';
import type { CommandContext } from '../process/context.ts';
import type { CommandResult } from '../process/finish.ts';
import { configure } from './configure.ts';
import { chooseConversation } from './conversation-choice.ts';
import { requireProviderAtStart } from './first-start.ts';
import { placeOf } from './place.ts';
import { interrupted, readPrompt } from './prompt.ts';
import { putAsideLines } from './put-aside-lines.ts';
import { offerRecovery } from './recover-offer.ts';
import { runWithOrion } from './run-turn.ts';

/** `orion run [prompt]`: offers what was interrupted, then one turn. */
export async function runCommand(
  context: CommandContext,
  argument: string | undefined,
  options: TurnOptions,
): Promise<CommandResult> {
  const configuration = await configure(context, options);
  const choice = recoverChoice(context, configuration.recover);
  // Only a session that may be recovered can name the provider instead.
  if (choice === 'no') requireProviderAtStart(configuration);
  const json = wantsResultLine(context.argv, context.environment);

  return runWithOrion({ context, configuration, withModel: true, json }, async (tools) => {
    const { orion, signal, show } = tools;
    const prompt = await readPrompt(context, argument ?? null, signal);
    const cleaned = await orion.housekeep();
    const place = placeOf(context, configuration.workspace);
    if (!configuration.quiet) {
      for (const line of putAsideLines(cleaned, place)) context.screen.line(line, 'faint');
    }
    const conversation = await chooseConversation(orion, configuration);
    const recover = await offerRecovery({
      context,
      orion,
      choice,
      signal,
      place,
      first: conversation?.openSessionId ?? null,
    });
    if (configuration.conversation.kind === 'latest' && conversation === null && recover === null) {
      context.screen.line('There is no conversation to continue: this is a new one.');
    }
    if (signal.aborted) throw interrupted();
    if (recover === null) {
      requireProviderAtStart(configuration);
      const how = 'Give it as an argument, or pipe it in: orion run "Write a README"';
      if (prompt === null) throw usage('There is no prompt.', how);
    }
    await show(
      orion.runTurn({
        content: prompt ?? '',
        mode: configuration.mode,
        signal,
        ...defined({
          projectId: configuration.projectId ?? undefined,
          conversationId: conversation?.conversationId,
          recover: recover ?? undefined,
        }),
      }),
    );
  });
}

function recoverChoice(context: CommandContext, chosen: RecoverChoice | null): RecoverChoice {
  if (chosen === 'ask' && !context.interactive) {
    throw usage('--recover ask needs a terminal to ask on.', 'Use --recover yes or --recover no.');
  }
  return chosen ?? (context.interactive ? 'ask' : 'no');
}
