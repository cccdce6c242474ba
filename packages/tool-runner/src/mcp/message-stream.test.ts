import fc from 'fast-check';
import { expect, test } from 'vitest';

import { messageStream } from './message-stream.ts';
import { MCP_LIMITS, ServerBroke } from './server.ts';

/** Hazard: a body that is bounded in one way of arriving is not in another. */

type Outcome = {
  readonly passed: readonly string[];
  readonly why: string | null;
  readonly messages: number;
};

async function pass(
  chunks: readonly Uint8Array[],
  isEvents: boolean,
  limits: { readonly messageBytes?: number; readonly messages?: number } = {},
): Promise<Outcome> {
  const meter = { messages: 0 };
  const refusals: string[] = [];
  const stream = messageStream({
    isEvents,
    limits: { ...MCP_LIMITS, ...limits },
    meter,
    refuse: (why) => {
      refusals.push(why);
      return new ServerBroke(why);
    },
  });
  const writer = stream.writable.getWriter();
  const written = (async () => {
    for (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  })().catch(() => undefined);
  const passed: string[] = [];
  try {
    for await (const part of stream.readable) passed.push(Buffer.from(part).toString());
  } catch (error) {
    expect(refusals).toEqual([(error as Error).message]);
  }
  await written;
  return { passed, why: refusals[0] ?? null, messages: meter.messages };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([
  ['0123456789', 10, false],
  ['0123456789a', 10, true],
  ['', 10, false],
])('a body %j of at most %i bytes is too long: %s', async (text, messageBytes, isTooLong) => {
  const { passed, why } = await pass([bytes(text)], false, { messageBytes });
  expect(why).toBe(isTooLong ? 'it sent a message of more than 10 bytes' : null);
  expect(passed.join('')).toBe(isTooLong ? '' : text);
});

test.each(['\n', '\r\n', '\r'])(
  'an event may be as long as the limit, with line ends %j',
  async (end) => {
    const event = `data: x${end}${end}`;
    const messageBytes = event.length;
    const all = await pass([bytes(event.repeat(3))], true, { messageBytes });
    expect(all.why).toBeNull();
    expect(all.passed.join('')).toBe(event.repeat(3));
    expect(all.messages).toBe(3);
    const longer = await pass([bytes(event), bytes(`data: xy${end}${end}`)], true, {
      messageBytes,
    });
    expect(longer.why).toBe(`it sent a message of more than ${messageBytes} bytes`);
    // The second half of a line end belongs to what follows.
    expect(longer.passed).toEqual([end === '\r\n' ? event.slice(0, -1) : event]);
  },
);

test('as many events as the limit pass, and no more', async () => {
  const three = await pass([bytes('a\n\nb\n\nc\n\n')], true, { messages: 3 });
  expect(three).toEqual({ passed: ['a\n\n', 'b\n\n', 'c\n\n'], why: null, messages: 3 });
  const four = await pass([bytes('a\n\nb\n\nc\n\nd\n\n')], true, { messages: 3 });
  expect(four.why).toBe('it sent more than 3 messages in one call');
  // What waits to be read is dropped with the connection.
  expect(four.passed).toEqual(['a\n\n']);
});

test('blank lines are no events in a body', async () => {
  expect(await pass([bytes('a\n\n\n\nb')], false, { messages: 0 })).toMatchObject({
    passed: ['a\n\n\n\nb'],
    messages: 0,
  });
});

test('the rest of a stream passes at its end, as it is', async () => {
  expect((await pass([bytes('a\n\ndata: b')], true)).passed).toEqual(['a\n\n', 'data: b']);
});

test('JSON may be nested as deep as the limit, in an event and in a body', async () => {
  const nested = (depth: number): Uint8Array =>
    bytes(`${'['.repeat(depth)}${']'.repeat(depth)}\n\n`);
  for (const isEvents of [true, false]) {
    expect((await pass([nested(512)], isEvents)).why).toBeNull();
    expect((await pass([nested(513)], isEvents)).why).toBe(
      'it sent JSON that is nested deeper than 512 levels',
    );
  }
});

test('however a stream is divided, it passes the same, event by event', async () => {
  const line = fc.constantFrom('', 'data: {"a":"ü"}', ': x', 'id: 1');
  const text = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
    .map((lines) => lines.map(([each, end]) => each + end).join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat({ max: 200 })), async (sent, cuts) => {
      const whole = bytes(sent);
      const places = [...new Set([0, ...cuts.filter((cut) => cut < whole.length), whole.length])];
      places.sort((a, b) => a - b);
      const chunks = places.slice(1).map((end, at) => whole.subarray(places[at], end));
      const { passed, why } = await pass(chunks, true);
      expect(why).toBeNull();
      expect(passed.join('')).toBe(sent);
      // Nothing is passed on before its event has ended, and the second half of a line end may come later.
      for (const part of passed.slice(0, -1)) {
        expect(part.startsWith('\n') || /(?:^|[\r\n])(?:\r\n|\r|\n)$/u.test(part), part).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});
