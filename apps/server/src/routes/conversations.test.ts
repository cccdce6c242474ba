// Conversations are read in pages that are bounded, whatever is stored.
import type { ConversationAnswer, ConversationsAnswer, Message } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

async function save(
  { orion }: TestServer,
  conversationId: string,
  history: readonly Message[],
  projectId: string = orion.projectId,
): Promise<void> {
  await orion.store.conversations.save({
    conversationId,
    projectId,
    history,
    from: 0,
    openSessionId: null,
    revision: 0,
  });
}

const user = (content: string): Message => ({ role: 'user', content });

describe('the list of conversations', () => {
  it('is read page by page, each conversation once', async () => {
    const server = await startTestServer();
    for (let index = 0; index < 7; index++) await save(server, `c${index}`, [user(`no. ${index}`)]);
    const pages: string[][] = [];
    let query = '?limit=3';
    while (query !== '' && pages.length < 5) {
      const { json, status } = await server.ask(`/api/conversations${query}`);
      expect(status).toBe(200);
      const { conversations, next } = json as ConversationsAnswer;
      pages.push(conversations.map(({ title }) => title));
      query = next === null ? '' : `?limit=3&before=${next}`;
    }
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
    expect(pages.flat().toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `no. ${index}`));
  });

  it('has 50 where no limit is named, and says that there are more', async () => {
    const server = await startTestServer();
    for (let index = 0; index < 50; index++) await save(server, `c${index}`, [user('hello')]);
    const list = async () => (await server.ask('/api/conversations')).json as ConversationsAnswer;
    expect(await list()).toMatchObject({ next: null });
    await save(server, 'one-more', [user('hello')]);
    const { conversations, next } = await list();
    expect([conversations.length, typeof next]).toEqual([50, 'string']);
  });

  it('is of one project where one is named', async () => {
    const server = await startTestServer();
    await save(server, 'a', [user('ours')]);
    await save(server, 'b', [user('theirs')], 'other');
    const ids = async (query: string) => {
      const { json } = await server.ask(`/api/conversations${query}`);
      return (json as ConversationsAnswer).conversations.map((each) => each.conversationId);
    };
    expect((await ids('')).toSorted()).toEqual(['a', 'b']);
    expect(await ids('?projectId=other')).toEqual(['b']);
    expect(await ids('?projectId=none')).toEqual([]);
  });
});

describe('a conversation', () => {
  it('is read from its end, and then the messages before', async () => {
    const server = await startTestServer();
    const long = 'é'.repeat(300_000);
    const history = [user('first'), user(long), { role: 'assistant', content: long }, user('last')];
    await save(server, 'c', history as Message[]);
    const read = async (query: string) =>
      (await server.ask(`/api/conversations/c${query}`)).json as ConversationAnswer;
    const last = await read('');
    expect(last).toMatchObject({ conversationId: 'c', messages: 4, from: 2 });
    expect(last.history).toEqual(history.slice(2));
    const earlier = await read('?before=2');
    expect([earlier.from, earlier.history]).toEqual([0, history.slice(0, 2)]);
    expect((await read('?before=0')).history).toEqual([]);
  });

  it('has no data that belongs to the provider', async () => {
    const server = await startTestServer();
    const providerData = { adapter: 'anthropic', model: 'm', value: { signature: 'abc' } };
    const call = { id: 'c1', name: 'read_file', arguments: '{}', state: 'complete' } as const;
    await save(server, 'c', [
      user('read it'),
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ ...call, providerData }],
        providerData,
      },
    ]);
    const { json, text } = await server.ask('/api/conversations/c');
    expect(text).not.toContain('signature');
    expect((json as ConversationAnswer).history[1]).toEqual({
      role: 'assistant',
      content: '',
      toolCalls: [call],
    });
  });

  it('that does not exist is not found', async () => {
    const { ask } = await startTestServer();
    const { status, json } = await ask('/api/conversations/none');
    expect([status, codeOf(json)]).toEqual([404, 'CONVERSATION_NOT_FOUND']);
  });
});
