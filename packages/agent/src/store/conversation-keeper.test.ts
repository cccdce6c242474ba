import {
  KeysInUse,
  OrionError,
  type ConversationStore,
  type Message,
  type StoredConversation,
} from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { ConversationKeeper, type KeptConversation } from './conversation-keeper.ts';
import { newThread, NOT_STORED } from './conversation-thread.ts';
import { observeConversations } from './observed-store.ts';
import { StoreHealth } from './store-health.ts';

const KEY = 'a-key-in-use';
const keys = new KeysInUse([KEY]);

const user = (content: string): Message => ({ role: 'user', content });

const SAVED = { kind: 'saved', revision: 1 } as const;

function conversation(content: string, openSessionId: string | null = null): KeptConversation {
  return {
    conversationId: 'c',
    projectId: 'p',
    history: [user(content)],
    openSessionId,
    thread: newThread('c', NOT_STORED),
  };
}

function stored(...contents: readonly string[]): StoredConversation {
  return {
    conversationId: 'c',
    projectId: 'p',
    title: '',
    messages: contents.length,
    createdAt: 0,
    updatedAt: 0,
    openSessionId: null,
    revision: 3,
    from: 0,
    history: contents.map((content) => user(content)),
  };
}

function keeperWith(store: Partial<ConversationStore>) {
  const clock = createFakeClock();
  const health = new StoreHealth({ clock });
  const observed = observeConversations(store as ConversationStore, health);
  const keeper = new ConversationKeeper({
    store: observed,
    clock,
    health,
    createId: () => 'new',
    redact: keys.redact,
  });
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
        return SAVED;
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
    expect(await keeper.find('c', 'p')).toMatchObject({
      history: [user('one')],
      openSessionId: 's1',
    });
    expect(await keeper.find('another', 'p')).toMatchObject({ history: [], openSessionId: null });
    expect(attempts).toBe(1);
    await keeper.end();
    expect(attempts).toBe(2);
    expect(keeper.unsaved()).toBe(1);
    expect(health.takeNotice()).toContain('STORE_UNAVAILABLE');
  });

  it('asks the store for what it has stored: another process may have gone on with it', async () => {
    const { keeper } = keeperWith({
      save: () => Promise.resolve(SAVED),
      load: () => Promise.resolve(stored('newer')),
    });
    keeper.keep(conversation('one'));
    await keeper.settled();
    expect((await keeper.find('c', 'p')).history).toEqual([user('newer')]);
  });

  it('does not write over what it could not read: what was said here comes after it', async () => {
    let kept = stored('said long ago');
    let away = true;
    const { keeper } = keeperWith({
      load: () => (away ? failing() : Promise.resolve(kept)),
      save: ({ history, from, revision }) => {
        if (away) return failing();
        expect(revision).toBe(kept.revision);
        const front = kept.history.slice(0, from);
        kept = { ...kept, history: [...front, ...history], revision: revision + 1 };
        return Promise.resolve({ kind: 'saved', revision: revision + 1 });
      },
    });
    const found = await keeper.find('c', 'p');
    expect(found.history).toEqual([]);
    keeper.keep({ ...found, history: [user('one')] });
    await keeper.end();
    away = false;
    keeper.keep({ ...found, history: [user('one'), user('two')] });
    await keeper.end();
    // Saved twice in one turn: the beginning stands there once.
    keeper.keep({ ...found, history: [user('one'), user('two'), user('three')] });
    await keeper.end();
    expect(kept.history.map((message) => message.content)).toEqual([
      'said long ago',
      'one',
      'two',
      'three',
    ]);
    // Read since then: now the history is whole.
    const again = await keeper.find('c', 'p');
    expect(again.history).toHaveLength(4);
    keeper.keep({ ...again, history: [...again.history, user('four')] });
    await keeper.end();
    expect(kept.history).toHaveLength(5);
  });

  it('cannot tell where to go on with a store that is away or silent', async () => {
    const { keeper, clock } = keeperWith({
      load: failing,
      list: () => new Promise(() => undefined),
    });
    await expect(keeper.look({ conversationId: 'c' })).rejects.toThrow('away');
    const latest = expect(keeper.look({ projectId: 'p' })).rejects.toThrow('does not answer');
    await clock.advance(1000);
    await latest;
  });

  it('begins without a history when the store does not answer within a second', async () => {
    const { keeper, clock, health } = keeperWith({ load: () => new Promise(() => undefined) });
    const found = keeper.find('c', 'p');
    await clock.advance(1000);
    expect(await found).toMatchObject({ history: [], openSessionId: null });
    expect(health.takeNotice()).toContain('does not answer');
    expect(clock.pending()).toBe(0);
  });

  it('waits for the history that an owned turn needs, and asks once', async () => {
    let loads = 0;
    const answer = Promise.withResolvers<StoredConversation>();
    const { keeper, clock } = keeperWith({
      load: () => {
        loads += 1;
        return answer.promise;
      },
    });
    const found = keeper.findStored('c', 'p');
    const turn = keeper.findTurn({ id: 'c', at: 0 }, 1, { prompt: 'one', projectId: 'p' });
    await clock.advance(5_000);
    answer.resolve(stored('one'));
    expect((await found).history).toEqual([user('one')]);
    expect((await turn)?.own).toEqual([user('one')]);
    expect(loads).toBe(2);
  });
});
