import type { ConversationStore, TurnLog } from '@orion/contracts';
import type { StoreHealth } from './store-health.ts';

/** The same store, with every call seen as an attempt to use it: for one that somebody else has opened. */
export function observeConversations(
  store: ConversationStore,
  health: StoreHealth,
): ConversationStore {
  return {
    save: (conversation) => observed(health, store.save(conversation)),
    load: (conversationId, part) => observed(health, store.load(conversationId, part)),
    rename: (conversationId, title) => observed(health, store.rename(conversationId, title)),
    list: (filter) => observed(health, store.list(filter)),
  };
}

/** A reader lasts as long as it wants, and says nothing about the time of answers. */
export function observeTurnLog(log: TurnLog, health: StoreHealth): TurnLog {
  return {
    acquire: (...turn) => observed(health, log.acquire(...turn)),
    append: (turnId, epoch, expectSeq, events) =>
      observed(health, log.append(turnId, epoch, expectSeq, events)),
    appendAll: (appends) => observed(health, log.appendAll(appends)),
    finish: (append, conversation, complete) =>
      observed(health, log.finish(append, conversation, complete)),
    requestCancel: (turnId) => observed(health, log.requestCancel(turnId)),
    read: (turnId, afterSeq, limit) => observed(health, log.read(turnId, afterSeq, limit)),
    follow: (turns, signal) => log.follow(turns, signal),
    tail: (turnId, afterSeq, signal) => log.tail(turnId, afterSeq, signal),
    epochOf: (turnId) => observed(health, log.epochOf(turnId)),
  };
}

function observed<Answer>(health: StoreHealth, call: Promise<Answer>): Promise<Answer> {
  health.observe(call);
  return call;
}
