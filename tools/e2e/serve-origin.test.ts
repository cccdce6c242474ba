// B10–B12: what a page of another origin can make a browser send changes nothing, and reads nothing.
import { describe, expect, it } from 'vitest';

import { sharedServer, told } from './support/serve.ts';
import type { HttpQuestion } from './support/serve.ts';

describe('Origin and Sec-Fetch-Site (B10)', () => {
  const server = sharedServer(['--allow-host', 'orion.example.com']);

  // 404: it was let in, and there is no such route.
  it.each([
    ['http://127.0.0.1:PORT', '404 ROUTE_NOT_FOUND'],
    ['http://localhost:PORT', '404 ROUTE_NOT_FOUND'],
    ['https://orion.example.com', '404 ROUTE_NOT_FOUND'],
    ['https://localhost:PORT', '403 ORIGIN_NOT_ALLOWED'],
    ['http://localhost:1', '403 ORIGIN_NOT_ALLOWED'],
    ['http://localhost', '403 ORIGIN_NOT_ALLOWED'],
    ['http://localhost:PORT.evil.com', '403 ORIGIN_NOT_ALLOWED'],
    ['http://localhost:PORT/', '403 ORIGIN_NOT_ALLOWED'],
    ['http://orion.example.com.evil.com', '403 ORIGIN_NOT_ALLOWED'],
    ['https://evil.com', '403 ORIGIN_NOT_ALLOWED'],
    ['chrome-extension://abcdefghijklmnop', '403 ORIGIN_NOT_ALLOWED'],
    ['file://', '403 ORIGIN_NOT_ALLOWED'],
    ['null', '403 ORIGIN_NOT_ALLOWED'],
    ['', '403 ORIGIN_NOT_ALLOWED'],
  ])('Origin: %s gets %s', async (origin, answer) => {
    const { ask, port } = server();
    const headers = { origin: origin.replace('PORT', String(port)) };
    expect(told(await ask('/none', { headers, json: {} }))).toBe(answer);
    expect(told(await ask('/none', { headers }))).toBe(answer);
  });

  it.each([
    ['cross-site', '403 ORIGIN_NOT_ALLOWED'],
    ['same-site', '403 ORIGIN_NOT_ALLOWED'],
    ['same-origin', '404 ROUTE_NOT_FOUND'],
    ['none', '404 ROUTE_NOT_FOUND'],
  ])('Sec-Fetch-Site: %s of a change gets %s', async (site, answer) => {
    const headers = { 'sec-fetch-site': site };
    expect(told(await server().ask('/none', { headers, json: {} }))).toBe(answer);
    expect(told(await server().ask('/none', { headers, method: 'DELETE' }))).toBe(answer);
  });
});

const PATHS: Readonly<Record<string, string>> = {
  POST: '/api/turns/none/cancel',
  PUT: '/api/write-sessions/none/content?offset=0',
};

describe('what a form, a link or an image can send (B11)', () => {
  const server = sharedServer();

  it.each<[method: string, type: string | null, answer: string]>([
    ['POST', 'application/x-www-form-urlencoded', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'multipart/form-data; boundary=x', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'text/plain', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'text/plain;application/json', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'application/json, text/plain', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'application/jsonp', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'application/json; charset=utf-7', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', null, '415 MEDIA_TYPE_UNSUPPORTED'],
    ['POST', 'application/json', '404 TURN_NOT_FOUND'],
    ['PUT', 'application/json', '415 MEDIA_TYPE_UNSUPPORTED'],
    ['PUT', null, '415 MEDIA_TYPE_UNSUPPORTED'],
    ['PATCH', 'application/json', '405 METHOD_NOT_ALLOWED'],
    ['PROPFIND', 'application/json', '405 METHOD_NOT_ALLOWED'],
    ['TRACE', null, '405 METHOD_NOT_ALLOWED'],
    ['CONNECT', null, ''],
  ])('%s with %s gets %s', async (method, type, answer) => {
    const { ask } = server();
    const headers: HttpQuestion['headers'] = type === null ? {} : { 'content-type': type };
    const body = type === null && method !== 'POST' ? {} : { body: '{}' };
    const asked = ask(PATHS[method] ?? '/metrics', { method, headers, ...body });
    // A server that is no proxy closes the connection.
    if (method === 'CONNECT') await expect(asked).rejects.toThrow(/hang up|ECONNRESET/u);
    else expect(told(await asked)).toBe(answer);
  });

  it('another method in a header or in the query changes nothing', async () => {
    const { ask } = server();
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' };
    expect(told(await ask('/metrics?_method=DELETE', { headers }))).toBe('200');
  });
});

describe('a preflight (B12)', () => {
  const server = sharedServer();

  it('allows nothing, and no other answer does', async () => {
    const { ask, port } = server();
    for (const origin of ['https://evil.com', `http://localhost:${port}`]) {
      const preflight = await ask('/api/chat/messages', {
        method: 'OPTIONS',
        token: null,
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
          'access-control-request-private-network': 'true',
        },
      });
      expect(preflight.status).toBe(405);
      for (const { headers } of [
        preflight,
        await ask('/metrics', { headers: { origin } }),
        await ask('/none', { headers: { origin }, json: {} }),
        await ask('/health/live', { token: null }),
      ]) {
        const names = Object.keys(headers);
        expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect(headers['cross-origin-resource-policy']).toBe('same-origin');
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      }
    }
  });
});
