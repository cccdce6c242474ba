import { createAllowList } from '@orion/tool-runner';
import type { Approval, ApprovalRequest } from '@orion/tool-runner';
import type { CommandAction, McpAction, McpPart } from '@orion/contracts';

import { changesOfTool, rememberTool } from '../config/known-tools.ts';
import type { Settings } from '../config/settings.ts';
import type { OrionOptions } from '../orion.ts';

/** How many refusals are remembered, the latest: a server runs many turns. */
const MOST_REFUSALS = 100;

const YES: Approval = { approved: true };

type Request = Pick<ApprovalRequest, 'action' | 'context'>;

/** `review`: who is asked, instead of whom the options name. */
export type CallApprover = (
  request: Request,
  review?: OrionOptions['reviewAction'],
) => Promise<Approval>;

type Asking = {
  readonly context: Request['context'];
  readonly review: OrionOptions['reviewAction'];
};

type ApprovalOptions = {
  readonly review?: OrionOptions['reviewAction'];
  /** The user's own folder, which keeps what the user has agreed to. */
  readonly userDirectory?: string | undefined;
  readonly workspace: string;
};

/**
 * Decides about calls of tools that do something that cannot be undone (R283): the user's own settings allow it, or a
 * person is asked. Where nobody can be asked it is refused.
 *
 * Throws USAGE for patterns that leave the program open.
 */
export function actionApproval(
  { review: standard, userDirectory, workspace }: ApprovalOptions,
  {
    allowCommands,
    approveCommands,
    allowMcpTools,
    sandbox,
    allowNetwork: network,
  }: Pick<
    Settings,
    'allowCommands' | 'approveCommands' | 'allowMcpTools' | 'sandbox' | 'allowNetwork'
  >,
): CallApprover {
  const list = createAllowList(allowCommands);
  /** What a person has refused, by turn: the same is not asked twice. */
  const refusals = new Map<string, Approval>();

  async function ask(
    action: CommandAction | McpAction,
    { context: { requestId, signal }, review }: Asking,
    unasked: string,
  ): Promise<Approval> {
    if (review === undefined) return refused(`${unasked}, and nobody can be asked`);
    const asked = JSON.stringify([requestId, action]);
    const earlier = refusals.get(asked);
    if (earlier !== undefined) return earlier;
    const answer = await review(action, signal);
    if (!answer.approved) remember(asked, answer);
    return answer;
  }

  function remember(asked: string, answer: Approval): void {
    refusals.set(asked, answer);
    const [oldest] = refusals.keys();
    if (refusals.size > MOST_REFUSALS && oldest !== undefined) refusals.delete(oldest);
  }

  async function approveCommand(action: CommandAction, asking: Asking): Promise<Approval> {
    if (list.allows(action.command)) return YES;
    if (approveCommands === 'auto') return YES;
    if (approveCommands === 'never') return refused('the settings allow no command');
    return ask({ ...action, sandbox, network }, asking, 'no pattern allows it');
  }

  /** A name in the settings is a yes to the tool as it was first seen; what has changed needs another one. */
  async function approveTool(action: McpAction, asking: Asking): Promise<Approval> {
    const changes: readonly McpPart[] | null =
      userDirectory === undefined ? null : await changesOfTool(userDirectory, workspace, action);
    const changed = changes ?? [];
    const isAllowed = allowMcpTools.includes(action.name);
    if (isAllowed && changes?.length === 0) return YES;
    const approval =
      isAllowed && changes === null
        ? YES
        : await ask(
            changed.length === 0 ? action : { ...action, changed },
            asking,
            changed.length === 0
              ? 'the settings do not allow it by name'
              : `its ${changed.join(' and ')} changed since it was agreed to`,
          );
    if (approval.approved && changes?.length !== 0 && userDirectory !== undefined) {
      await rememberTool(userDirectory, workspace, action);
    }
    return approval;
  }

  return async ({ action, context }, review = standard) => {
    if (action === null) return YES;
    const asking = { context, review };
    return action.kind === 'mcp' ? approveTool(action, asking) : approveCommand(action, asking);
  };
}

function refused(reason: string): Approval {
  return { approved: false, reason };
}

/** What a person should know of the patterns before a command runs. */
export function patternWarnings({
  allowCommands,
}: Pick<Settings, 'allowCommands'>): readonly string[] {
  return createAllowList(allowCommands).warnings;
}
