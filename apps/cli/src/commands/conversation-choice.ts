import type { Configuration, FoundConversation, Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';

import { conversationNotFound } from './conversations.ts';

/**
 * The stored conversation that `--continue` or `--resume` names; null for a new one, undefined when the store cannot
 * tell. Rejects with CONVERSATION_NOT_FOUND for a name that is not stored.
 */
export async function chooseConversation(
  orion: Orion,
  configuration: Configuration,
): Promise<FoundConversation | null | undefined> {
  const { conversation, projectId } = configuration;
  switch (conversation.kind) {
    case 'new':
      return null;
    case 'named': {
      const { conversationId } = conversation;
      const found = await orion.findConversation({ conversationId });
      if (found === null) throw conversationNotFound(conversationId);
      return found;
    }
    case 'latest':
      try {
        return await orion.findConversation({ projectId: projectId ?? orion.projectId });
      } catch (error) {
        // The turn continues without a store, and says so itself.
        if (OrionError.isInstance(error)) return undefined;
        throw error;
      }
    default:
      return conversation satisfies never;
  }
}
