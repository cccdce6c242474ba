import {
  OrionError,
  type ConversationStore,
  type Message,
  type StoredConversation,
} from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { ConversationKeeper, type KeptConversation } from './conversation-keeper.ts';
import { observeConversations } from './observed-store.ts';
import { StoreHealth } from './store-health.ts';

const user = (content: string): Message => ({ role: 'user', content });

function conversation(content: string, openSessionId: string | null = null): KeptConversation {
  return { conversationId: 'c', projectId: 'p', history: [user(content)], openSessionId };
}

function keeperWith(store: Partial<ConversationStore>) {
  const clock = createFakeClock();
  const health = new StoreHealth({ clock });
  const observed = observeConversations(store as ConversationStore, health);
  const keeper = new ConversationKeeper({ store: observed, clock, health });
  return { keeper, clock, health };
}

const failing = (): Promise<never> =>
  Promise.reject(new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away' }));

describe('keeping conversations', () => {
  it('stores the newest state, one after the other', async () => {
    const saved: string[] = [];
    let release = (): void => undefined;
    const { keeper } = keeperWith({
      save: async ({ history }) => {
        saved.push(history[0]?.content ?? '');
        if (saved.length === 1) await new Promise<void>((resolve) => (release = resolve));
      },
    });
    keeper.keep(conversation('one'));
    keeper.keep(conversation('two'));
    keeper.keep(conversation('three'));
    release();
    await keeper.settled();
    expect(saved).toEqual(['one', 'three']);
  });

  it('answers from memory what could not be stored, and tries once more in the end', async () => {
    let attempts = 0;
    const { keeper, health } = keeperWith({
      save: () => {
        attempts += 1;
        return failing();
      },
      load: failing,
      list: failing,
    });
    keeper.keep(conversation('one', 's1'));
    await keeper.settled();
    expect(await keeper.find('c')).toEqual(conversation('one', 's1'));
    expect(await keeper.ofSession('s1')).toMatchObject({ conversationId: 'c' });
    expect(await keeper.find('another')).toBeNull();
    expect(attempts).toBe(1);
    await keeper.end();
    expect(attempts).toBe(2);
    expect(keeper.unsaved()).toBe(1);
    expect(health.takeNotice()).toContain('STORE_UNAVAILABLE');
  });

  it('asks the store for what it has stored: another process may have gone on with it', async () => {
    const stored = { ...conversation('newer') } as StoredConversation;
    const { keeper } = keeperWith({
      save: () => Promise.resolve(),
      load: () => Promise.resolve(stored),
      list: () => Promise.resolve([{ ...stored, openSessionId: 's2' }]),
    });
    keeper.keep(conversation('one'));
    await keeper.settled();
    expect(await keeper.find('c')).toBe(stored);
    expect(await keeper.ofSession('s2')).toMatchObject({ conversationId: 'c' });
    expect(await keeper.ofSession('s3')).toBeNull();
  });

  it('begins without a history when the store does not answer within a second', async () => {
    const { keeper, clock, health } = keeperWith({ load: () => new Promise(() => undefined) });
    const found = keeper.find('c');
    await clock.advance(1000);
    expect(await found).toBeNull();
    expect(health.takeNotice()).toContain('does not answer');
    expect(clock.pending()).toBe(0);
  });
});
