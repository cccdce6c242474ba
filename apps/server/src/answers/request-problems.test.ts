// A request that does not fit is refused with every problem by its place, and never with what the client sent.
import { z } from '@hono/zod-openapi';
import { describe, expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import { invalidRequest } from './request-problems.ts';

const schema = z.strictObject({
  content: z.string().min(1),
  mode: z.enum(['plan', 'act']),
  corrections: z.array(z.strictObject({ index: z.int(), text: z.string() })).max(1000),
  metadata: z.record(z.string(), z.string()),
});

function problemsOf(value: unknown): readonly unknown[] {
  const { error } = schema.safeParse(value);
  const { details, message } = invalidRequest('json', error?.issues ?? []);
  expect(message).toMatch(/^The body of the request is not valid: /u);
  return details['problems'] as readonly unknown[];
}

describe('a request that does not fit', () => {
  it('is told all that is wrong with it, each with its place', () => {
    const problems = problemsOf({
      content: '',
      mode: 'Secret value',
      corrections: [{ index: 1, text: 'a' }, { index: 1.5 }],
      metadata: { 'a very secret key': 7 },
    });
    expect(problems).toEqual([
      { in: 'body', at: 'content', problem: 'expected at least 1 character' },
      { in: 'body', at: 'mode', problem: 'expected one of "plan", "act"' },
      { in: 'body', at: 'corrections[1].index', problem: 'expected int, received number' },
      { in: 'body', at: 'corrections[1].text', problem: 'is missing' },
      { in: 'body', at: 'metadata.*', problem: 'expected string, received number' },
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/secret/iu);
  });

  it('names unknown fields where they look like a typing error, and counts the others', () => {
    const whole = { content: 'x', mode: 'act', corrections: [], metadata: {} };
    expect(problemsOf({ ...whole, contnet: 1, 'sk-123 456': 2, ['x'.repeat(41)]: 3 })).toEqual([
      { in: 'body', at: '', problem: 'unknown fields (contnet, 2 more)' },
    ]);
    expect(problemsOf({ ...whole, 'sk-123': 2 })).toEqual([
      { in: 'body', at: '', problem: 'unknown fields (1)' },
    ]);
  });

  it('names a header, and says in plain words what its place may have', () => {
    const many = { limit: z.int().max(200), list: z.array(z.int()).max(2), key: z.string().max(3) };
    const { error } = z
      .strictObject({ 'idempotency-key': z.string().regex(/^\w+$/u, 'expected a word'), ...many })
      .safeParse({ 'idempotency-key': 'a b', limit: 201, list: [1, 2, 3], key: 'abcd' });
    expect(invalidRequest('header', error?.issues ?? []).message).toBe(
      'The headers of the request are not valid: idempotency-key: expected a word; ' +
        'limit: expected at most 200; list: expected at most 2 items; key: expected at most 3 characters.',
    );
    const either = z.object({ plan: z.union([z.string(), z.null()]) }).safeParse({});
    expect(invalidRequest('json', either.error?.issues ?? []).message).toBe(
      'The body of the request is not valid: plan: is missing or does not fit.',
    );
  });

  it('is not told more than 20 problems', () => {
    const corrections = Array.from({ length: 500 }, () => ({}));
    const { error } = schema.safeParse({ content: 'x', mode: 'act', corrections, metadata: {} });
    const { message, details } = invalidRequest('json', error?.issues ?? []);
    expect(details['problems']).toHaveLength(20);
    expect(message).toMatch(/; and 980 more\.$/u);
    expect(message.length).toBeLessThan(2000);
  });

  it.each([
    ['?limit=0', 'query', 'limit'],
    ['?limit=201', 'query', 'limit'],
    ['?limit=1e1', 'query', 'limit'],
    ['?limit=', 'query', 'limit'],
    ['?limit=1&limit=2', 'query', 'limit'],
    ['?LIMIT=1', 'query', ''],
    ['?projectId=', 'query', 'projectId'],
    [`/${'x'.repeat(201)}`, 'path', 'id'],
    ['/c?before=-1', 'query', 'before'],
  ])('GET /api/conversations%s is refused', async (rest, where, at) => {
    const { ask } = await startTestServer();
    const { status, json } = await ask(`/api/conversations${rest}`);
    expect([status, codeOf(json)]).toEqual([400, 'REQUEST_INVALID']);
    expect(json).toMatchObject({ error: { details: { problems: [{ in: where, at }] } } });
  });

  it.each(['x', '', 'bnVsbA', 'W10', 'WzEsMiwzXQ', '%00', 'x'.repeat(1000)])(
    'the cursor %j is refused',
    async (cursor) => {
      const { ask } = await startTestServer();
      const { status, json } = await ask(`/api/conversations?before=${cursor}`);
      expect([status, codeOf(json)]).toEqual([400, 'REQUEST_INVALID']);
    },
  );
});
