import { createHmac } from 'node:crypto';

import type { PageLinkAnswer, PageSessionAnswer } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

/** Hazard: the log-in of the page opens more than it should, or to somebody whom it should not (W5, W7, W10). */

async function newCode({ ask }: TestServer): Promise<string> {
  const { json } = await ask('/api/page/links', { method: 'POST', json: {} });
  return (json as PageLinkAnswer).path.replace('/connect#', '');
}

async function logIn(server: TestServer): Promise<PageSessionAnswer> {
  const json = { code: await newCode(server) };
  const answer = await server.ask('/api/page/sessions', { token: null, json });
  expect(answer.status).toBe(200);
  return answer.json as PageSessionAnswer;
}

const reading = '/api/conversations';

describe('the log-in of the page', () => {
  it('makes a session of a link, which takes the place of the token until it is signed out', async () => {
    const server = await startTestServer();
    const { id, key } = await logIn(server);
    const token = `${id}.${key}`;
    expect((await server.ask(reading, { token })).status).toBe(200);
    expect((await server.ask(reading, { token: id })).status).toBe(401);
    await server.ask(`/api/page/sessions/${id}`, { token, method: 'DELETE' });
    expect((await server.ask(reading, { token })).status).toBe(401);
  });

  it('ends where another server with the same files has ended it', async () => {
    const clock = createFakeClock();
    const server = await startTestServer({ clock });
    const [one, two] = [await logIn(server), await logIn(server)];
    const token = `${one.id}.${one.key}`;
    const end = async (...ids: readonly string[]): Promise<void> => {
      const ended = Object.fromEntries(ids.map((id) => [id, clock.now() + 9_999]));
      await server.orion.serverFiles.updatePageAccess(() => ({ generation: 0, ended }));
      await clock.advance(1_000);
    };
    expect((await server.ask(reading, { token })).status).toBe(200);
    await end(one.id);
    expect((await server.ask(reading, { token })).status).toBe(401);
    await end(one.id, two.id);
    const json = { id: two.id, challenge: 'c'.repeat(64) };
    const refused = await server.ask('/api/page/challenge', { token: null, json });
    expect(codeOf(refused.json)).toBe('PAGE_SESSION_ENDED');
  });

  it('exchanges the token, and no other one', async () => {
    const server = await startTestServer();
    const exchanged = await server.ask('/api/page/sessions', { json: {} });
    const { id, key } = exchanged.json as PageSessionAnswer;
    expect((await server.ask(reading, { token: `${id}.${key}` })).status).toBe(200);
    for (const [token, status, code] of [
      ['a-wrong-token-0123456789', 401, 'UNAUTHORIZED'],
      [null, 403, 'PAGE_LINK_INVALID'],
    ] as const) {
      const refused = await server.ask('/api/page/sessions', { token, json: {} });
      expect([refused.status, codeOf(refused.json)]).toEqual([status, code]);
    }
  });

  it('takes a link once', async () => {
    const server = await startTestServer();
    const json = { code: await newCode(server) };
    await server.ask('/api/page/sessions', { token: null, json });
    const again = await server.ask('/api/page/sessions', { token: null, json });
    expect([again.status, codeOf(again.json)]).toEqual([403, 'PAGE_LINK_USED']);
  });

  it('makes links for nobody without the token', async () => {
    const { ask } = await startTestServer();
    expect((await ask('/api/page/links', { token: null, json: {} })).status).toBe(401);
    expect((await ask('/api/page/sessions', { token: null, method: 'DELETE' })).status).toBe(401);
  });

  it('makes neither a link nor a session for one who has a session alone', async () => {
    const server = await startTestServer();
    const { id, key } = await logIn(server);
    const token = `${id}.${key}`;
    for (const path of ['/api/page/links', '/api/page/sessions', '/api/page/sessions?x=1']) {
      const refused = await server.ask(path, { token, json: {} });
      expect([path, refused.status, codeOf(refused.json)]).toEqual([path, 401, 'UNAUTHORIZED']);
    }
    expect((await server.ask(reading, { token })).status).toBe(200);
    const all = { token, method: 'DELETE' };
    expect((await server.ask('/api/page/sessions', all)).status).toBe(200);
  });

  it('ends all sessions at once', async () => {
    const server = await startTestServer();
    const tokens = [await logIn(server), await logIn(server)].map(({ id, key }) => `${id}.${key}`);
    await server.ask('/api/page/sessions', { method: 'DELETE' });
    for (const token of tokens) expect((await server.ask(reading, { token })).status).toBe(401);
    await logIn(server);
  });

  it('proves itself without its key, and takes no session that is over for one of its own', async () => {
    const server = await startTestServer();
    const { id, key } = await logIn(server);
    const challenge = 'c'.repeat(64);
    const { json } = await server.ask('/api/page/challenge', {
      token: null,
      json: { id, challenge },
    });
    expect(json).toEqual({
      proof: createHmac('sha256', Buffer.from(key, 'hex'))
        .update(`orion page challenge ${challenge}`)
        .digest('hex'),
    });
    const other = await server.ask('/api/page/challenge', {
      token: null,
      json: { id: 'x', challenge },
    });
    expect(codeOf(other.json)).toBe('PAGE_SESSION_ENDED');
  });

  it('refuses a page of another origin, also where no token is needed', async () => {
    const { ask } = await startTestServer();
    for (const path of ['/api/page/sessions', '/api/page/challenge']) {
      const headers = { origin: 'http://127.0.0.1:1' };
      const refused = await ask(path, { token: null, json: {}, headers });
      expect(codeOf(refused.json)).toBe('ORIGIN_NOT_ALLOWED');
      const form = await ask(path, {
        token: null,
        body: 'code=1',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(codeOf(form.json)).toBe('MEDIA_TYPE_UNSUPPORTED');
    }
  });

  it('says nothing of codes and keys in its log', async () => {
    const server = await startTestServer();
    const code = await newCode(server);
    const { id, key } = (await server.ask('/api/page/sessions', { token: null, json: { code } }))
      .json as PageSessionAnswer;
    await server.ask(`${reading}?x=${key}`, { token: `${id}.${key}` });
    const log = server.log.join('');
    expect([log.includes(code), log.includes(key)]).toEqual([false, false]);
  });
});
