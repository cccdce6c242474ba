import { describe, expect, it } from 'vitest';

import { forwardedOf, isProxyAddress, TrustedProxies } from './forwarded.ts';

const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

describe('what a proxy says (B13)', () => {
  it.each<[peer: string, passed: readonly string[], client: string]>([
    ['203.0.113.9', ['198.51.100.1'], '203.0.113.9'],
    ['10.1.2.3', ['198.51.100.1'], '198.51.100.1'],
    ['::ffff:10.1.2.3', ['198.51.100.1'], '198.51.100.1'],
    ['fd00::1', ['2001:db8::5'], '2001:db8::5'],
    ['192.0.2.7', [], '192.0.2.7'],
    ['192.0.2.8', ['198.51.100.1'], '192.0.2.8'],
    // A client that invents a way here has its own address behind it.
    ['10.1.2.3', ['1.1.1.1, 198.51.100.1'], '198.51.100.1'],
    ['10.1.2.3', ['1.1.1.1', '198.51.100.1'], '198.51.100.1'],
    ['10.1.2.3', ['1.1.1.1, 198.51.100.1, 10.9.9.9, 192.0.2.7'], '198.51.100.1'],
    ['10.1.2.3', ['10.0.0.1, 10.0.0.2'], '10.0.0.1'],
    ['10.1.2.3', ['198.51.100.1, not an address'], '10.1.2.3'],
    ['10.1.2.3', ['198.51.100.1, not an address, 10.2.2.2'], '10.2.2.2'],
    ['10.1.2.3', ['198.51.100.1:80'], '10.1.2.3'],
    ['10.1.2.3', ['<script>\r\n'], '10.1.2.3'],
  ])('from %s with %j the client is %s', (peer, passed, client) => {
    const header = (name: string): readonly string[] => (name === 'x-forwarded-for' ? passed : []);
    expect(forwardedOf(peer, header, proxies)).toEqual({ client, host: null });
  });

  it('is the host, from a proxy that is listed alone', () => {
    const header = (name: string): readonly string[] =>
      name === 'x-forwarded-host' ? ['orion.example'] : [];
    expect(forwardedOf('10.1.2.3', header, proxies).host).toBe('orion.example');
    expect(forwardedOf('11.1.2.3', header, proxies).host).toBeNull();
    expect(forwardedOf('10.1.2.3', header, new TrustedProxies([])).host).toBeNull();
    expect(forwardedOf(undefined, header, proxies)).toEqual({ client: '', host: null });
  });

  it('is not one value where there are two', () => {
    const header = (): readonly string[] => ['orion.example', 'evil.com'];
    expect(forwardedOf('10.1.2.3', header, proxies).host).toBe('orion.example,evil.com');
  });
});

it.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['10.0.0.0/8', true],
  ['10.0.0.0/32', true],
  ['fd00::/128', true],
  ['10.0.0.0/33', false],
  ['fd00::/129', false],
  ['10.0.0.0/8/8', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/x', false],
  ['localhost', false],
  ['*', false],
  ['', false],
])('%s is a proxy: %s', (text, is) => {
  expect(isProxyAddress(text)).toBe(is);
});
