import { OrionError } from '@orion/contracts';
import type { Message, PendingCalls, ToolMessage, WriteReceipt } from '@orion/contracts';

import type { ConversationKeeper, KeptConversation } from '../../store/conversation-keeper.ts';
import type { OwnedTurn } from '../../store/owned-turn.ts';
import { readCheckpoint, restoreCalls } from './checkpoint.ts';
import type { Checkpoint } from './checkpoint.ts';
import { readLoggedTurn } from './logged-turn.ts';
import type { LoggedSession, LoggedTurn } from './logged-turn.ts';

/** A turn as its earlier owners have left it. */
export type LeftTurn = {
  readonly logged: LoggedTurn;
  readonly checkpoint: Checkpoint | null;
  /** The complete messages of the turn, the prompt first; empty where none was stored. */
  readonly messages: readonly Message[];
  readonly pending: PendingCalls | null;
  /** Why it cannot be continued. */
  readonly damage: OrionError | null;
};

/** A write session of the turn, and what is known of it without the disk. */
export type LeftSession = {
  readonly sessionId: string;
  readonly logged: LoggedSession | null;
  readonly receipt: WriteReceipt | null;
};

export type FoundTurn = { readonly left: LeftTurn | null; readonly begun: KeptConversation };

/** Reads what a turn needs to go on, with the conversation as it was before the turn. Waits for the store. */
export async function findLeftTurn(
  owned: OwnedTurn,
  conversations: Pick<ConversationKeeper, 'findStored' | 'findTurn'>,
  {
    conversationId,
    projectId,
    prompt,
  }: {
    readonly conversationId: string;
    readonly projectId: string;
    readonly prompt: string;
  },
): Promise<FoundTurn> {
  const { claim } = owned;
  const find = (): Promise<KeptConversation> =>
    owned.untilStored(() => conversations.findStored(conversationId, projectId));
  if (claim.lastSeq === 0 && claim.checkpoint === null) return { left: null, begun: await find() };
  let checkpoint: Checkpoint | null = null;
  let damage: OrionError | null = null;
  try {
    checkpoint = readCheckpoint(claim.checkpoint);
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    damage = error;
  }
  const logged = await readLoggedTurn(owned.readBack(), checkpoint?.seq ?? 0);
  const left = { logged, checkpoint, messages: [], pending: null };
  if (checkpoint === null) return { left: { ...left, damage }, begun: await find() };
  const { conversation, calls } = checkpoint;
  const found = await owned.untilStored(() =>
    conversations.findTurn(conversation, conversation.messages, { prompt, projectId }),
  );
  if (found === null) {
    damage = interrupted('Its messages are not in the conversation any more.');
    return { left: { ...left, damage }, begun: await find() };
  }
  const { before, own } = found;
  const begun = { ...before, conversationId };
  const complete = calls === null ? own.length : own.length - 1 - calls.progress.length;
  const messages = own.slice(0, complete).filter(({ role }) => role !== 'system');
  const said = own[complete];
  if (calls === null) return { left: { ...left, messages, damage }, begun };
  if (said?.role !== 'assistant') {
    damage = interrupted('A message of the model is not in the conversation any more.');
    return { left: { ...left, messages, damage }, begun };
  }
  const answers = own.slice(complete + 1) as readonly ToolMessage[];
  return {
    left: { ...left, messages, pending: restoreCalls(calls, said, answers), damage },
    begun,
  };
}

export function interrupted(why: string): OrionError {
  return new OrionError({
    code: 'TURN_INTERRUPTED',
    message: `The turn was interrupted and cannot be continued. ${why}`,
  });
}
