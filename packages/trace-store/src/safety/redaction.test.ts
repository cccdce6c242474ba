import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { RULES, isSecretKey, redact, redactedStart, redactText, redactValue } from './redaction.ts';

test('knows keys that name a secret, however they are spelled, and no others', () => {
  const secret = [
    'authorization',
    'Proxy-Authorization',
    'api_key',
    'apiKey',
    'X-API-Key',
    'OPENAI_API_KEY',
    'access_token',
    'token',
    'refreshToken',
    'password',
    'PASSWD',
    'client_secret',
    'Set-Cookie',
    'cookie',
    'private_key',
    'credentials',
  ];
  const plain = [
    'inputTokens',
    'max_tokens',
    'tokens',
    'tokenCount',
    'key',
    'path',
    'author',
    'secretary',
    'cookies_accepted',
    'signatures',
  ];
  expect(secret.filter((key) => !isSecretKey(key))).toEqual([]);
  expect(plain.filter((key) => isSecretKey(key))).toEqual([]);
});

test('takes secrets out of any text', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['key sk-proj-AbCd_1234-5678 end', 'key [REDACTED] end'],
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [REDACTED]'],
    [
      'https://h.example/v1?api_key=abc123&model=x',
      'https://h.example/v1?api_key=[REDACTED]&model=x',
    ],
    ['https://h.example/?key=abc', 'https://h.example/?key=[REDACTED]'],
    ['https://user:pa55@h.example/x', 'https://[REDACTED]@h.example/x'],
    ['OPENAI_API_KEY=abcdef other=1', 'OPENAI_API_KEY=[REDACTED] other=1'],
    ['DB_PASSWORD="a b" x=1', 'DB_PASSWORD=[REDACTED]" x=1'],
    ["SECRET='a b' x=1", "SECRET=[REDACTED]' x=1"],
    ['Cookie: a=b; c=d\r\nHost: h', 'Cookie: [REDACTED]\r\nHost: h'],
    ['curl -H "x-api-key: abc" https://h', 'curl -H "x-api-key: [REDACTED]" https://h'],
    ['https://hooks.slack.com/services/T0/B0/xyz', 'https://hooks.slack.com/services/[REDACTED]'],
    ['{"password": "a\\"b", "x": 1}', '{"password": "[REDACTED]", "x": 1}'],
    ['{\\"api_key\\":\\"abc\\",\\"x\\":1}', '{\\"api_key\\":\\"[REDACTED]\\",\\"x\\":1}'],
    ['ghp_abcdefghijklmnop', '[REDACTED]'],
    ['eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', '[REDACTED]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[REDACTED]'],
    ['-----BEGIN PRIVATE KEY-----\nabc, cut', '[REDACTED]'],
  ];
  for (const [text, expected] of cases) expect(redactText(text)).toBe(expected);
});

test('D1: a value of JSON within a text is taken out at any length, and what is quoted in a sentence is not', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{"key":"Bearer abc","x":1}', '{"key":"[REDACTED]","x":1}'],
    ['{"key": "bearer x"}', '{"key": "[REDACTED]"}'],
    ['{"a":"sk-abc","b":["ghp_1"]}', '{"a":"[REDACTED]","b":["[REDACTED]"]}'],
    [String.raw`{"a":"{\"key\":\"Bearer abc\"}"}`, String.raw`{"a":"{\"key\":\"[REDACTED]\"}"}`],
    ['He said "bearer of news" and "Basic usage".', 'He said "bearer of news" and "Basic usage".'],
    ['"Bearer of', '"Bearer of'],
  ];
  for (const [text, expected] of cases) {
    expect(redactText(text)).toBe(expected);
    expect(redact({ arguments: text })).toEqual({ arguments: expected });
  }
});

test('D1: a text that is a credential and nothing else is taken out at any length, and only then', () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const whole = [
    'Bearer abc',
    'bearer x',
    ' Bearer  abc\n',
    basic('a:'),
    basic('ü:b'),
    basic('user:pass').replace('Basic', 'basic'),
    'sk-a',
    'pk-1',
    'sk_live_1',
    'whsec_x',
    'ghp_1',
    'github_pat_1',
    'glpat-1',
    'xoxb-1',
    'npm_1',
    'AIza1',
    'SG.1',
  ];
  expect(whole.filter((text) => redactValue(text) !== '[REDACTED]')).toEqual([]);
  const kept = [
    'Basic usage',
    'Basic documentation',
    'Basic dXNlcg==',
    'basic a:b',
    'Bearer abc said',
    'The Bearer abc',
    'Bearer',
    'Bearer ',
    'sk- a',
    'sk-a b',
    'a sk-a',
    'ghp_1 is short',
    'Basic ',
  ];
  expect(kept.filter((text) => redactValue(text) !== text)).toEqual([]);
  expect(redact({ key: 'Bearer abc', list: ['sk-a', 'Basic usage'] })).toEqual({
    key: '[REDACTED]',
    list: ['[REDACTED]', 'Basic usage'],
  });
  // Within a sentence the present lengths stay.
  expect(redactText('say Bearer abcd')).toBe('say Bearer [REDACTED]');
  expect(redactText(`say ${basic('ann:pw')}, please`)).toBe('say Basic [REDACTED], please');
  expect(redactText('Basic usage and basic documentation')).toBe(
    'Basic usage and basic documentation',
  );
});

test('a key that is known by its letters goes before a pattern takes a part of it', () => {
  const hide = (text: string): string => text.replaceAll('abc/sk-12345678', '*');
  expect(redact({ a: 'x abc/sk-12345678', 'abc/sk-12345678': ['token', 1] }, hide)).toEqual({
    a: 'x *',
    '*': ['token', '[REDACTED]'],
  });
  expect(redactedStart('12345 abc/sk-12345678 6', 8, hide)).toBe('12345 * ');
  expect(redactedStart('x sk-12345678', 5, hide)).toBe('x [RE');
});

test('leaves ordinary text alone', () => {
  const texts = [
    'The task-list has risk-free items and a disk-cache-entry.',
    'const tokens = countTokens(text)',
    'max_tokens=8192',
    'see https://example.org/a?page=2',
    'a 😀 \ud800 text',
  ];
  for (const text of texts) expect(redactText(text)).toBe(text);
});

test('shortens home directories', () => {
  expect(redactText('/home/ann/project/a.ts')).toBe('~/project/a.ts');
  expect(redactText('at /Users/ann/x:1:2')).toBe('at ~/x:1:2');
  expect(redactText('C:\\Users\\ann\\x')).toBe('~\\x');
  expect(redactText('/root/x and /rooted')).toBe('~/x and /rooted');
});

test('hides whatever stands under a secret key, in objects, pairs and at every depth', () => {
  expect(
    redact({
      a: [{ token: { nested: 'x' } }, ['cookie', 'x'], { password: null, secret: false }],
      'sk-abcdefgh1234': 1,
    }),
  ).toEqual({
    a: [{ token: '[REDACTED]' }, ['cookie', '[REDACTED]'], { password: null, secret: false }],
    '[REDACTED]': 1,
  });
});

test('keys that become the same stay apart', () => {
  expect(redact({ 'sk-abcdefgh1234': 1, 'sk-abcdefgh5678': 2 })).toEqual({
    '[REDACTED]': 1,
    "[REDACTED]'": 2,
  });
});

test('stays fast on text made to slow it down', () => {
  const before = process.cpuUsage();
  for (const piece of [
    'a.',
    '"a',
    'eyJ12345678-',
    '?',
    '-----BEGIN A',
    '://a:',
    'sk-',
    '\\"',
    '/home/',
  ]) {
    redactText(piece.repeat(16_384 / piece.length));
  }
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});

const run = (length: number): string => 'aB3_'.repeat(16).slice(0, length);

test.each<[name: string, shortest: string, tooShort: string]>([
  ['of a provider', `sk-${run(8)}`, `sk-${run(7)}`],
  ['for payments', `whsec_${'a'.repeat(8)}`, `whsec_${'a'.repeat(7)}`],
  ['live', `rk_live_${'a'.repeat(8)}`, `rk_live_${'a'.repeat(7)}`],
  ...[
    'ghp_',
    'ghs_',
    'github_pat_',
    'glpat-',
    'xoxb-',
    'xapp-',
    'npm_',
    'pypi-',
    'hf_',
    'gsk_',
    'xai-',
    'r8_',
    'dop_v1_',
    'shpat_',
    'shpss_',
    'dckr_pat_',
    'AGE-SECRET-KEY-',
  ].map((prefix): [string, string, string] => [prefix, `${prefix}${run(8)}`, `${prefix}${run(7)}`]),
  ['of a cloud', `AKIA${'A1'.repeat(8)}`, `AKIA${'A1'.repeat(7)}A`],
  ['of maps', `AIza${run(30)}`, `AIza${run(29)}`],
  ['of mail', `SG.${run(16)}.${run(16)}`, `SG.${run(16)}.${run(15)}`],
  ['of a bot', `123456:AA${run(30)}`, `123456:AA${run(29)}`],
  ['of a bot with a longer number', `123456789012:AA${run(30)}`, `12345:AA${run(30)}`],
])('a token %s is taken out from its length on', (_name, shortest, tooShort) => {
  expect(redactText(`is ${shortest} here`)).toBe('is [REDACTED] here');
  expect(redactText(`is ${tooShort} here`)).toBe(`is ${tooShort} here`);
});

test('every text in which a rule finds something is one in which its hint is found', () => {
  const pieces = [
    'sk-',
    'pk_live_',
    'whsec_',
    'ghp_',
    'xoxb-',
    'npm_',
    'AKIA',
    'ASIA0123456789ABCDEF',
    'AIza',
    'SG.',
    'eyJ',
    'Bearer ',
    'BASIC ',
    'Authorization',
    'set-cookie',
    'x-api-key',
    'api_key',
    'accessKey',
    'secret',
    'TOKEN',
    'password',
    'signature',
    'key',
    'auth',
    ':',
    '=',
    '"',
    '\\"',
    '?',
    '&',
    ' ',
    '\n',
    '://',
    '@',
    'a',
    '0',
    'abcdefgh0123',
    '.',
    '-',
    '_',
    '/home/',
    '/Users/ann',
    'C:\\Users\\',
    '/root',
    '/',
    'hooks.slack.com/services/',
    '123456789',
    'AA',
    'x'.repeat(30),
    '-----BEGIN ',
    'PRIVATE KEY-----',
    '-----END ',
  ];
  fastCheck.assert(
    fastCheck.property(
      fastCheck.array(fastCheck.constantFrom(...pieces), { maxLength: 12 }),
      (parts) => {
        const text = parts.join('');
        for (const { hint, pattern } of RULES) {
          const found = text.search(pattern) !== -1;
          if (found) expect([text, hint.test(text)]).toEqual([text, true]);
        }
      },
    ),
    { numRuns: 20_000 },
  );
});

test('no rule looks closer at a text that only has what secrets have between their parts', () => {
  const text =
    'a_b, c-d, e.g. 5:30: the "whole" of x = y / z; Basic, Bearer, /homes, A:\\B and "c": d -----';
  for (const { hint, pattern } of RULES) {
    expect([hint.source, hint.test(text), hint.test('')]).toEqual([hint.source, false, false]);
    expect(''.search(pattern)).toBe(-1);
  }
});

test('a value with nothing to hide is the same value', () => {
  const value = { a: [1, 'text', { b: null }], c: true };
  expect(redact(value)).toBe(value);
  expect(redact({ ...value, d: 'Bearer abcdef' })).toEqual({ ...value, d: '[REDACTED]' });
});

test('no part of a key in use is left of a text that has many of them', () => {
  const key = 'a-key-of-thirty-letters-012345';
  const hide = (text: string): string => text.replaceAll(key, '*');
  for (let before = 0; before < key.length; before += 1) {
    const start = redactedStart('x'.repeat(before) + key.repeat(400), 2000, hide);
    expect(start).toBe('x'.repeat(before) + '*'.repeat(400));
  }
});
