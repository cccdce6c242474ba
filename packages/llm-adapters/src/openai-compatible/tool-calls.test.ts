import { describe, expect, test } from 'vitest';

import { DONE, callsOf, chunk, receive, sse, toolCall } from '../testing/streams.ts';

const CALLS_END = chunk({}, 'tool_calls');

async function callsFrom(...payloads: readonly (object | string)[]): Promise<readonly object[]> {
  return callsOf(await receive(sse(...payloads, CALLS_END, DONE)));
}

describe('merging', () => {
  test('a new id under the same index starts a new call', async () => {
    const calls = await callsFrom(
      toolCall({ index: 0, id: 'a', name: 'one', arguments: '{"x":1' }),
      toolCall({ index: 0, arguments: '}' }),
      toolCall({ index: 0, id: 'b', name: 'two', arguments: '{"y":' }),
      toolCall({ index: 0, arguments: '2}' }),
    );
    expect(calls).toEqual([
      { id: 'a', name: 'one', arguments: '{"x":1}', state: 'complete' },
      { id: 'b', name: 'two', arguments: '{"y":2}', state: 'complete' },
    ]);
  });

  test('another id under the same index without a name continues a call that is not whole', async () => {
    const calls = await callsFrom(
      toolCall({ index: 0, id: 'a', name: 'one', arguments: '' }),
      toolCall({ index: 0, id: 'b', arguments: '{"x":' }),
      toolCall({ index: 0, id: 'c', arguments: '1}' }),
      toolCall({ index: 0, id: 'd', arguments: '' }),
      toolCall({ index: 0, id: 'e', name: 'two' }),
      toolCall({ index: 0, id: 'f', arguments: '{}' }),
      toolCall({ index: 0, id: 'g', arguments: '{"y":2}' }),
    );
    expect(calls).toEqual([
      { id: 'a', name: 'one', arguments: '{"x":1}', state: 'complete' },
      { id: 'e', name: 'two', arguments: '{}', state: 'complete' },
      { id: 'g', name: '', arguments: '{"y":2}', state: 'complete' },
    ]);
  });

  test('a fragment finds its call by any id that the call has had', async () => {
    const calls = await callsFrom(
      toolCall({ index: 0, id: 'a', name: 'one', arguments: '' }),
      toolCall({ index: 0, id: 'b', arguments: '{"x":' }),
      toolCall({ index: 1, id: 'c', name: 'two', arguments: '{}' }),
      toolCall({ id: 'b', arguments: '1}' }),
    );
    expect(calls).toEqual([
      { id: 'a', name: 'one', arguments: '{"x":1}', state: 'complete' },
      { id: 'c', name: 'two', arguments: '{}', state: 'complete' },
    ]);
  });

  test('an empty id and an empty name continue the call', async () => {
    const calls = await callsFrom(
      toolCall({ index: 0, id: 'a', name: 'one', arguments: '{"x"' }),
      toolCall({ index: 0, id: '', name: '', arguments: ':1}' }),
    );
    expect(calls).toEqual([{ id: 'a', name: 'one', arguments: '{"x":1}', state: 'complete' }]);
  });

  test('the same id and name on every delta are one call', async () => {
    const calls = await callsFrom(
      toolCall({ index: 0, id: 'a', name: 'one', arguments: '{"x"' }),
      toolCall({ index: 0, id: 'a', name: 'one', arguments: ':1}' }),
    );
    expect(calls).toEqual([{ id: 'a', name: 'one', arguments: '{"x":1}', state: 'complete' }]);
  });

  test('without an index the id decides, and a fragment without either continues the last call', async () => {
    const calls = await callsFrom(
      toolCall({ id: 'a', name: 'one', arguments: '{"x":' }),
      toolCall({ arguments: '1}' }),
      toolCall({ id: 'b', name: 'two', arguments: '{"y":2}' }),
    );
    expect(calls).toEqual([
      { id: 'a', name: 'one', arguments: '{"x":1}', state: 'complete' },
      { id: 'b', name: 'two', arguments: '{"y":2}', state: 'complete' },
    ]);
  });

  test('calls without any id get one each', async () => {
    const calls = await callsFrom(
      toolCall({ index: 0, name: 'one', arguments: '{}' }),
      toolCall({ index: 0, name: 'two', arguments: '{}' }),
      toolCall({ index: 0, name: 'two', arguments: '{"x":1}' }),
    );
    expect(calls).toEqual([
      { id: 'call_0', name: 'one', arguments: '{}', state: 'complete' },
      { id: 'call_1', name: 'two', arguments: '{}', state: 'complete' },
      { id: 'call_2', name: 'two', arguments: '{"x":1}', state: 'complete' },
    ]);
  });

  test('fragments that come before the name are not lost', async () => {
    const events = await receive(
      sse(
        toolCall({ index: 0, id: 'a', arguments: '{"x"' }),
        toolCall({ index: 0, name: 'one', arguments: ':1}' }),
        CALLS_END,
        DONE,
      ),
    );
    expect(events.map((event) => event.type)).toEqual([
      'tool-call-start',
      'tool-call-delta',
      'tool-call-end',
      'finish',
    ]);
    expect(callsOf(events)).toMatchObject([{ name: 'one', arguments: '{"x":1}' }]);
  });

  test('an index identifies a call although each chunk has another id', async () => {
    const calls = await callsFrom(
      { ...toolCall({ index: 0, id: 'a', name: 'one', arguments: '{"x"' }), id: 'chatcmpl-7' },
      { ...toolCall({ index: 0, arguments: ':1}' }), id: 'chatcmpl-8' },
    );
    expect(calls).toMatchObject([{ arguments: '{"x":1}', state: 'complete' }]);
  });
});

describe('arguments', () => {
  test('none at all means an empty object', async () => {
    const calls = await callsFrom(toolCall({ index: 0, id: 'a', name: 'one' }));
    expect(calls).toEqual([{ id: 'a', name: 'one', arguments: '{}', state: 'complete' }]);
  });

  test('cut off by the length limit they are kept as they came, and the call is cut', async () => {
    const events = await receive(
      sse(
        toolCall({ index: 0, id: 'a', name: 'write', arguments: '{"content":"half a fi' }),
        chunk({}, 'length'),
        DONE,
      ),
    );
    expect(callsOf(events)).toEqual([
      { id: 'a', name: 'write', arguments: '{"content":"half a fi', state: 'cut' },
    ]);
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' });
  });

  test('none before the length limit are cut, not empty', async () => {
    const events = await receive(
      sse(toolCall({ index: 0, id: 'a', name: 'write' }), chunk({}, 'length'), DONE),
    );
    expect(callsOf(events)).toMatchObject([{ arguments: '', state: 'cut' }]);
  });

  test('incomplete without a length stop they are cut all the same', async () => {
    expect(
      await callsFrom(toolCall({ index: 0, id: 'a', name: 'x', arguments: '{"a":' })),
    ).toMatchObject([{ state: 'cut' }]);
  });

  test('that are not an object are malformed', async () => {
    for (const text of ['[1]', '"text"', '{"a":1}}', '{a:1}', '{}{"path":1}']) {
      const calls = await callsFrom(toolCall({ index: 0, id: 'a', name: 'x', arguments: text }));
      expect(calls, text).toMatchObject([{ arguments: text, state: 'malformed' }]);
    }
  });

  test('given as an object instead of its text are that object', async () => {
    const given = chunk({
      tool_calls: [{ id: 'a', function: { name: 'x', arguments: { b: 1 } } }],
    });
    expect(await callsFrom(given)).toMatchObject([{ arguments: '{"b":1}', state: 'complete' }]);
  });
});

test('calls with the finish reason stop are tool calls', async () => {
  const events = await receive(
    sse(toolCall({ index: 0, id: 'a', name: 'x', arguments: '{}' }), chunk({}, 'stop'), DONE),
  );
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool_calls' });
});
