/** Ours beside Node's, which the rest of the world uses. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Headers as OwnHeaders, Response as OwnResponse } from './fetch-classes.ts';

const names = fc.constantFrom('Accept', 'accept', 'X-A', 'set-cookie', 'Content-Type', 'a b', '');
const values = fc.oneof(
  fc.constantFrom('', ' x ', 'a\r\nb: c', 'é', '€', '\u0000', '\tz\t'),
  fc.string({ maxLength: 6 }),
);
const calls = fc.array(
  fc.tuple(fc.constantFrom('append', 'set', 'delete', 'get', 'has'), names, values),
  { maxLength: 8 },
);

type AnyHeaders = Pick<Headers, 'append' | 'set' | 'delete' | 'get' | 'has'> &
  Iterable<[string, string]>;

function play(headers: AnyHeaders, all: readonly (readonly [string, string, string])[]): unknown {
  const said = all.map(([call, name, value]) => {
    try {
      if (call === 'append') return headers.append(name, value);
      if (call === 'set') return headers.set(name, value);
      if (call === 'delete') return headers.delete(name);
      return call === 'get' ? headers.get(name) : headers.has(name);
    } catch (error) {
      return error instanceof TypeError ? 'TypeError' : error;
    }
  });
  return { said, left: [...headers] };
}

describe('the classes of fetch in a command', () => {
  it('hold headers as those of Node do', () => {
    fc.assert(
      fc.property(calls, (all) => {
        expect(play(new OwnHeaders(), all)).toEqual(play(new Headers(), all));
      }),
      { numRuns: 300 },
    );
  });

  it('take headers from headers, pairs and fields', () => {
    const pairs: [string, string][] = [
      ['b', '2'],
      ['A', '1'],
    ];
    for (const source of [pairs, Object.fromEntries(pairs), new OwnHeaders(pairs)]) {
      expect([...new OwnHeaders(source)]).toEqual([...new Headers(pairs)]);
    }
  });

  it('give a text once, as Node does', async () => {
    const own = new OwnResponse('{"a":1}', { status: 429, headers: { 'Retry-After': '1' } });
    expect(own).toMatchObject({ status: 429, ok: false, bodyUsed: false });
    expect(own.headers.get('retry-after')).toBe('1');
    const copy = own.clone();
    expect(await own.json()).toEqual({ a: 1 });
    await expect(own.text()).rejects.toThrow(TypeError);
    expect(Buffer.from(await copy.arrayBuffer()).toString()).toBe('{"a":1}');
    expect(new OwnResponse(null).body).toBeNull();
    expect(() => new OwnResponse(null, { status: 101 })).toThrow(RangeError);
  });
});
