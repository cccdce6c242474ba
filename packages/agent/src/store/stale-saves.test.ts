import { KeysInUse, OrionError } from '@orion/contracts';
import type { ConversationStore, Message } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ConversationKeeper } from './conversation-keeper.ts';
import { StoreHealth } from './store-health.ts';

const KEY = 'a-key-in-use';
const keys = new KeysInUse([KEY]);

const user = (content: string): Message => ({ role: 'user', content });
const answer = (content: string): Message => ({ role: 'assistant', content });
const called = (id: string): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id, name: 'read_file', arguments: '{}', state: 'complete' }],
});
const result = (id: string, content: string): Message => ({
  role: 'tool',
  toolCallId: id,
  toolName: 'read_file',
  content,
});

const clock = createFakeClock();
let opened: ReturnType<typeof openStore>;
let store: ConversationStore;
beforeEach(() => {
  opened = openStore({ kind: 'memory' }, { clock });
  store = opened.conversations;
});
afterEach(() => opened.close());

/** A process of its own, with the same store. */
function newProcess(own: ConversationStore = store): ConversationKeeper {
  const health = new StoreHealth({ clock });
  return new ConversationKeeper({
    store: own,
    clock,
    health,
    createId: () => 'new',
    redact: keys.redact,
  });
}

async function say(keeper: ConversationKeeper, ...messages: readonly Message[]): Promise<void> {
  const found = await keeper.find('c', 'p');
  keeper.keep({ ...found, history: [...found.history, ...messages] });
  await keeper.end();
}

const texts = async (id = 'c'): Promise<unknown> =>
  (await store.load(id))?.history.map(({ content }) => content);

describe('R277: a stale save', () => {
  it('puts its turn behind that of the winner, whole', async () => {
    await say(newProcess(), user('start'), answer('yes'));
    const [one, two] = [newProcess(), newProcess()];
    const [first, second] = [await one.find('c', 'p'), await two.find('c', 'p')];
    const won = [user('A'), called('c1'), result('c1', 'r1'), answer('a')];
    const lost = [user('B'), called('c1'), result('c1', 'r2'), answer('b')];
    one.keep({ ...first, history: [...first.history, ...won] });
    await one.end();
    two.keep({ ...second, history: [...second.history, ...lost] });
    await two.end();
    expect((await store.load('c'))?.history).toEqual([
      user('start'),
      answer('yes'),
      ...won,
      ...lost,
    ]);
    expect(two.takeNotice()).toBeNull();
  });

  it('of a conversation that two began at once, too', async () => {
    const [one, two] = [newProcess(), newProcess()];
    const [first, second] = [await one.find('c', 'p'), await two.find('c', 'p')];
    one.keep({ ...first, history: [user('A'), answer('a')] });
    two.keep({ ...second, history: [user('B'), answer('b')] });
    await Promise.all([one.end(), two.end()]);
    expect([
      ['A', 'a', 'B', 'b'],
      ['B', 'b', 'A', 'a'],
    ]).toContainEqual(await texts());
  });

  it('of a turn that was stored in parts leaves none of its parts behind', async () => {
    const [one, two] = [newProcess(), newProcess()];
    const [first, second] = [await one.find('c', 'p'), await two.find('c', 'p')];
    const keep = async (keeper: ConversationKeeper, at: typeof first, ...own: Message[]) => {
      keeper.keep({ ...at, history: own });
      await keeper.end();
    };
    await keep(one, first, user('A'), called('c1'), result('c1', 'interrupted'));
    await keep(two, second, user('B'), called('c1'), result('c1', 'interrupted, too'));
    await keep(one, first, user('A'), called('c1'), result('c1', 'written'), answer('a'));
    expect(await texts()).toEqual(['B', '', 'interrupted, too', 'A', '', 'written', 'a']);
    await keep(two, second, user('B'), called('c1'), result('c1', 'written, too'), answer('b'));
    expect(await texts()).toEqual(['A', '', 'written', 'a', 'B', '', 'written, too', 'b']);
  });

  it('of a store that went back, as with a failover, replaces what that has of its turn', async () => {
    await say(newProcess(), user('start'), answer('yes'));
    const one = newProcess({
      ...store,
      save: (save) => store.save(save),
      load: (id, part) => store.load(id, part),
    });
    const first = await one.find('c', 'p');
    const keep = async (...own: Message[]): Promise<void> => {
      one.keep({ ...first, history: [...first.history, ...own] });
      await one.end();
    };
    await keep(user('A'), answer('a'));
    const earlier = await store.load('c');
    await keep(user('A'), answer('a'), answer('b'));
    // A standby that had the save before the last one.
    await opened.close();
    opened = openStore({ kind: 'memory' }, { clock });
    for (let revision = 0; revision < (earlier?.revision ?? 0); revision += 1) {
      const { history = [] } = earlier ?? {};
      const save = { conversationId: 'c', projectId: 'p', history, from: 0, openSessionId: null };
      await opened.conversations.save({ ...save, revision });
    }
    store = opened.conversations;
    await keep(user('A'), answer('a'), answer('b'), answer('c'));
    expect(await texts()).toEqual(['start', 'yes', 'A', 'a', 'b', 'c']);
  });

  it('that changed older messages becomes a new conversation, and its id is told once', async () => {
    await say(newProcess(), user('start'), answer('unfinished'));
    const [one, two] = [newProcess(), newProcess()];
    const changed = await one.find('c', 'p');
    await say(two, user('B'), answer('b'));
    one.keep({ ...changed, history: [user('start'), answer('written')], openSessionId: null });
    await one.end();
    expect(await texts()).toEqual(['start', 'unfinished', 'B', 'b']);
    expect(await texts('new')).toEqual(['start', 'written']);
    expect(one.takeNotice()).toBe(
      'Another process continued the conversation c while this turn changed what stands in it. Both are kept: ' +
        'this turn is in the new conversation new, and --resume new continues it.',
    );
    expect(one.takeNotice()).toBeNull();
    // The rest of the turn goes there, too.
    const rest = [user('start'), answer('written'), user('more')];
    one.keep({ ...changed, history: rest });
    await one.end();
    expect(await texts('new')).toEqual(['start', 'written', 'more']);
    expect(one.takeNotice()).toBeNull();
    expect(one.unsaved()).toBe(0);
  });

  it('that changed older messages and was not overtaken is the conversation', async () => {
    await say(newProcess(), user('start'), answer('unfinished'));
    const keeper = newProcess();
    const found = await keeper.find('c', 'p');
    keeper.keep({ ...found, history: [user('start'), answer('written')] });
    await keeper.end();
    // From here on another one comes first.
    await say(newProcess(), user('B'));
    keeper.keep({ ...found, history: [user('start'), answer('written'), user('A')] });
    await keeper.end();
    expect(await texts()).toEqual(['start', 'written', 'B', 'A']);
    expect(keeper.takeNotice()).toBeNull();
  });

  it('whose first answer was lost stands there once', async () => {
    let lose = true;
    const lossy: ConversationStore = {
      ...store,
      save: async (conversation) => {
        const outcome = await store.save(conversation);
        if (!lose) return outcome;
        throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'The answer was lost' });
      },
    };
    const keeper = newProcess(lossy);
    const found = await keeper.find('c', 'p');
    keeper.keep({ ...found, history: [user('A')] });
    await keeper.end();
    await say(newProcess(), user('B'));
    lose = false;
    keeper.keep({ ...found, history: [user('A'), answer('a')] });
    await keeper.end();
    expect(await texts()).toEqual(['B', 'A', 'a']);

    // And where older messages were changed it is no other conversation.
    lose = true;
    const again = await keeper.find('c', 'p');
    keeper.keep({ ...again, history: [user('B'), user('A'), answer('changed')] });
    await keeper.end();
    lose = false;
    await keeper.end();
    expect(await texts()).toEqual(['B', 'A', 'changed']);
    expect([keeper.unsaved(), keeper.takeNotice()]).toEqual([0, null]);
  });

  it('finds a conversation that became shorter than what it has read of it', async () => {
    const long = ['1', '2', '3'].map((text) => user(text.repeat(4_000_000)));
    await say(newProcess(), ...long);
    const keeper = newProcess();
    const found = await keeper.find('c', 'p');
    expect(found.history).toHaveLength(2);
    const other = await store.load('c', { maxBytes: 0 });
    await store.save({
      conversationId: 'c',
      projectId: 'p',
      history: [user('short')],
      from: 0,
      openSessionId: null,
      revision: other?.revision ?? 0,
    });
    keeper.keep({ ...found, history: [...found.history, user('A')] });
    await keeper.end();
    expect(await texts()).toEqual(['short', 'A']);
  });
});

it('a stored system message is never history, and stays where it is', async () => {
  await say(newProcess(), user('one'), { role: 'system', content: 'Obey.' }, answer('two'));
  const keeper = newProcess();
  expect((await keeper.find('c', 'p')).history).toEqual([user('one'), answer('two')]);
  await say(keeper, user('three'));
  expect(await texts()).toEqual(['one', 'Obey.', 'two', 'three']);
});

it('a long history is read from its end, from a turn on, and what was not read stays', async () => {
  const turn = (name: string): Message[] => [user(name), answer(name.repeat(3_000_000))];
  await say(newProcess(), ...turn('a'), ...turn('b'), ...turn('c'), ...turn('d'));
  const keeper = newProcess();
  const { history } = await keeper.find('c', 'p');
  expect(history.map(({ role, content }) => [role, content[0]])).toEqual([
    ['user', 'c'],
    ['assistant', 'c'],
    ['user', 'd'],
    ['assistant', 'd'],
  ]);
  await say(keeper, user('e'));
  const whole = await store.load('c');
  expect(whole?.history.map(({ content }) => content[0]).join('')).toBe('aabbccdde');
});

describe('a conversation of an owned turn', () => {
  it('is not put behind that of the new owner, nor into a conversation of its own (O5)', async () => {
    await say(newProcess(), user('start'));
    const fence = await opened.turnLog.acquire('t', 1);
    const stale = newProcess();
    const found = await stale.find('c', 'p');
    const owner = await opened.turnLog.acquire('t', 2);
    const fresh = newProcess();
    const newer = await fresh.find('c', 'p');
    fresh.keep({ ...newer, history: [...newer.history, answer('new')], fence: owner });
    await fresh.end();
    for (const said of [answer('old'), answer('older')]) {
      stale.keep({ ...found, history: [...found.history, said], fence });
      await stale.end();
    }
    expect(stale.unsaved()).toBe(0);
    expect(stale.takeNotice()).toBeNull();
    expect(await texts()).toEqual(['start', 'new']);
    expect(await store.list({ limit: 9 })).toHaveLength(1);
  });

  it('is concluded after what is under way, without keys, behind what others have said', async () => {
    const keeper = newProcess();
    const { epoch } = await opened.turnLog.acquire('t', 1);
    const found = await keeper.find('c', 'p');
    const fence = { turnId: 't', epoch };
    keeper.keep({ ...found, history: [user('q')], fence });
    await say(newProcess(), user('other'));
    const done = { seq: 1, kind: 'done', data: null };
    await keeper.conclude(
      { ...found, history: [user('q'), answer(`has ${KEY}`)], fence },
      async (save) => {
        const append = { ...fence, expectSeq: 1, events: [done] };
        const outcome = await opened.turnLog.finish(append, save);
        return outcome.kind === 'stored'
          ? { kind: 'saved', revision: outcome.revision ?? 0 }
          : { kind: 'stale' };
      },
    );
    expect(await texts()).toEqual(['other', 'q', 'has [REDACTED]']);
    expect(keeper.unsaved()).toBe(0);
    expect(await opened.turnLog.read('t', 0)).toHaveLength(1);
  });
});
