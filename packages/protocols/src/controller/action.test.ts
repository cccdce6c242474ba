import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '@orion/contracts';
import { parseAction } from './action.ts';
import { normaliseOutput } from './normalise.ts';
import { CONTROLLER_FIELDS } from './schema.ts';

const parse = (value: unknown) => parseAction(JSON.stringify(value));
const actionOf = (value: unknown) => {
  const parsed = parse(value);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.action;
};
const thinking = { task: 't' };

describe('what is understood', () => {
  test('a flat tool action without a wrapper (003 §0.7)', () => {
    expect(
      actionOf({ action: 'next_step', thinking, tool: 'read_file', args: { path: 'a' } }),
    ).toEqual({
      kind: 'tool',
      thinking,
      tool: 'read_file',
      args: { path: 'a' },
      description: null,
    });
  });

  test('A9: a nested step with aliases, arguments as text and blank fields', () => {
    expect(
      parseAction(
        '{"action":"next_step","thinking":{"task":"t"},"step":{"tool_name":"web.fetch","arguments":"{\\"u\\":1}"},"question":"","context":""}',
      ),
    ).toEqual({
      ok: true,
      action: { kind: 'tool', thinking, tool: 'web.fetch', args: { u: 1 }, description: null },
      ignored: [],
    });
  });

  test.for<[unknown, object]>([
    [undefined, {}],
    [null, {}],
    ['', {}],
    ['  ', {}],
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    ['[1,2]', { value: [1, 2] }],
    ['7', { value: 7 }],
    ['null', { value: null }],
    [[1], { value: [1] }],
    [0, { value: 0 }],
    [false, { value: false }],
    ['just text', { input: 'just text' }],
    ['{"a":', { input: '{"a":' }],
  ])('args %j become %j (R196)', ([args, expected]) => {
    const action = actionOf({ action: 'next_step', thinking, tool: 't', args });
    expect(action).toMatchObject({ args: expected });
  });

  test.for<[object, string]>([
    [{ tool: 't' }, 'tool'],
    [{ question: 'q' }, 'ask_user'],
    [{ message: 'm' }, 'complete'],
    [{ tool: 't', question: 'q', message: 'm' }, 'tool'],
    [{ question: 'q', message: 'm' }, 'ask_user'],
    [{ type: 'respond', tool: 't', message: 'm' }, 'complete'],
    [{ type: ' ', message: 'm' }, 'complete'],
  ])('%j is a step of type %s (R191)', ([fields, kind]) => {
    expect(actionOf({ action: 'next_step', thinking, ...fields }).kind).toBe(kind);
  });

  test('thinking that is no object is the task (R193)', () => {
    expect(actionOf({ action: 'next_step', thinking: 'hm', tool: 't' })).toMatchObject({
      thinking: { task: 'hm' },
    });
    expect(actionOf({ action: 'next_step', thinking: ['a'], tool: 't' })).toMatchObject({
      thinking: { task: ['a'] },
    });
    const more = { task: 't', mood: 'fine' };
    expect(actionOf({ action: 'next_step', thinking: more, tool: 't' })).toMatchObject({
      thinking: more,
    });
  });

  test('the ends of a turn (R194, R195)', () => {
    const said = { kind: 'complete', message: 'm', thinking: null };
    expect(actionOf({ action: 'complete', message: 'm' })).toEqual(said);
    expect(actionOf({ action: 'complete', message: 'm', thinking })).toEqual({ ...said, thinking });
    expect(actionOf({ action: 'respond', response: 'm', thinking })).toEqual({ ...said, thinking });
    expect(actionOf({ action: 'respond', content: 'm' })).toEqual(said);
    const stop = { kind: 'guardrail_stop', reason: 'r', message: null };
    expect(actionOf({ action: 'guardrail_stop', reason: 'r' })).toEqual(stop);
    expect(actionOf({ action: 'guardrail_stop', reason: 'r', message: 'm' })).toEqual({
      ...stop,
      message: 'm',
    });
    const asked = {
      kind: 'ask_user',
      question: 'q',
      context: null,
      resumeTo: 'reflecting',
      thinking: null,
    };
    expect(actionOf({ action: 'ask_user', question: 'q' })).toEqual(asked);
    expect(actionOf({ action: 'ask_user', question: 'q', resume_to: 'reflecting' })).toEqual(asked);
    const resumed = { question: 'q', context: 'c', resume_to: 'controller', thinking };
    const expected = { ...asked, context: 'c', resumeTo: 'controller', thinking };
    expect(actionOf({ action: 'ask_user', ...resumed })).toEqual(expected);
    expect(actionOf({ action: 'next_step', ...resumed })).toEqual(expected);
    expect(actionOf({ action: 'next_step', thinking, tool: 't', description: 'd' })).toMatchObject({
      description: 'd',
    });
    // Elsewhere a wrong one is dropped.
    expect(actionOf({ action: 'complete', message: 'm', resume_to: 'mars' }).kind).toBe('complete');
  });

  test.for([
    ['plain', '{"action":"complete","message":"m"}'],
    ['blanks around', ' \n{"action":"complete","message":"m"}\n '],
    ['a fence', '```\n{"action":"complete","message":"m"}\n```'],
    ['a fence with a language', '```json\n{"action":"complete",\n"message":"m"}\n```\n'],
  ])('%s (R197)', ([, text]) => {
    expect(parseAction(text ?? '')).toMatchObject({ ok: true });
  });
});

describe('what is refused, with these words', () => {
  test.for<[object, string]>([
    [
      { action: 'next_step', thinking, type: 'tool' },
      "next_step type=tool requires non-empty 'tool' field",
    ],
    [
      { action: 'next_step', thinking, type: 'tool', tool: '  ' },
      "next_step type=tool requires non-empty 'tool' field",
    ],
    [
      { action: 'next_step', thinking, type: 'respond', message: '' },
      "next_step type=respond requires non-empty 'message' field",
    ],
    [
      { action: 'next_step', thinking, type: 'ask_user', message: 'm' },
      "next_step type=ask_user requires non-empty 'question' field",
    ],
    [
      { action: 'next_step', thinking },
      "Cannot determine step type: provide 'type' or 'tool'/'message'/'question'",
    ],
    [
      { action: 'next_step', thinking, description: 'read the file' },
      "Cannot determine step type: provide 'type' or 'tool'/'message'/'question'",
    ],
    [
      { action: 'next_step', thinking, type: 'think', description: 'd' },
      'Unknown step type: think',
    ],
    [{ action: 'next_step', thinking, type: 'X', tool: 't' }, 'Unknown step type: X'],
    [{ action: 'next_step', tool: 't' }, 'Invalid controller output: missing field `thinking`'],
    [
      { action: 'next_step', thinking: ' ', tool: 't' },
      'Invalid controller output: missing field `thinking`',
    ],
    [{ action: 'complete' }, 'Invalid controller output: missing field `message`'],
    [{ action: 'complete', message: '\n' }, 'Invalid controller output: missing field `message`'],
    [{ action: 'guardrail_stop' }, 'Invalid controller output: missing field `reason`'],
    [{ action: 'ask_user' }, 'Invalid controller output: missing field `question`'],
    [
      { action: 'ask_user', question: 'q', resume_to: 'mars' },
      'Invalid controller output: unknown variant `mars`, expected `reflecting` or `controller`',
    ],
    [{ thinking, tool: 't' }, 'Invalid controller output: missing field `action`'],
    [
      { action: 'respond' },
      'Invalid controller output: unknown variant `respond`, expected one of `next_step`, `complete`, `guardrail_stop`, `ask_user`',
    ],
    [
      { action: 'think' },
      'Invalid controller output: unknown variant `think`, expected one of `next_step`, `complete`, `guardrail_stop`, `ask_user`',
    ],
    [
      { action: 'next_step', thinking, tool: 7 },
      'Invalid controller output: field `tool` must be a string',
    ],
    [{ action: 1 }, 'Invalid controller output: field `action` must be a string'],
  ])('%j: %s (R192)', ([value, error]) => {
    expect(parse(value)).toEqual({ ok: false, error });
  });

  test.for([
    ['', 'there is no output'],
    ['Sure! {"action":"complete","message":"m"}', 'not one JSON object and nothing else'],
    ['{"action":"complete","message":"m"} Done.', 'not one JSON object and nothing else'],
    ['```json\n{}\n```\nand more', 'not one JSON object and nothing else'],
    ['{"action":"compl', 'not one JSON object and nothing else'],
    ['[]', 'not a JSON object'],
    ['"text"', 'not a JSON object'],
    ['['.repeat(1000) + ']'.repeat(1000), 'nested deeper than 32 levels'],
    ['{"a":'.repeat(33) + '1' + '}'.repeat(33), 'nested deeper than 32 levels'],
    ['[1,'.repeat(33) + '"\\"]"' + ']'.repeat(33), 'nested deeper than 32 levels'],
    // At the limit it is read, and is no object.
    ['['.repeat(32) + ']'.repeat(32), 'not a JSON object'],
    [`[${'[],{},'.repeat(40)}1]`, 'not a JSON object'],
    [`["${'['.repeat(40)}\\"${'{'.repeat(40)}"]`, 'not a JSON object'],
    [`{"message":"${'x'.repeat(1024 * 1024)}"}`, 'longer than 1048576 characters'],
    [`["${'x'.repeat(1024 * 1024 - 4)}"]`, 'not a JSON object'],
    [`["${'x'.repeat(1024 * 1024 - 3)}"]`, 'longer than 1048576 characters'],
  ])('%.40s (R197)', ([text, why]) => {
    expect(parseAction(text ?? '')).toEqual({
      ok: false,
      error: `Invalid controller output: ${why}`,
    });
  });
});

test('arguments as JSON in a string are no deeper than others (B23)', () => {
  const argsOf = (text: string): unknown => {
    const parsed = parse({ action: 'next_step', thinking, tool: 't', args: text });
    return parsed.ok && parsed.action.kind === 'tool' ? parsed.action.args : parsed;
  };
  const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
  expect(argsOf(nested(32))).toEqual(JSON.parse(nested(32)));
  expect(argsOf(nested(33))).toEqual({ input: nested(33) });
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(argsOf(deep)).toEqual({ input: deep });
});

describe('names (R189, R190)', () => {
  test.for<[JsonObject, JsonObject, readonly string[]]>([
    [{ tool_name: 'a', name: 'b' }, { tool: 'a' }, ['name']],
    [{ name: 'b' }, { tool: 'b' }, []],
    [{ tool: 'c', tool_name: 'a' }, { tool: 'c' }, ['tool_name']],
    [{ tool: ' ', tool_name: 'a' }, { tool: 'a' }, []],
    [{ tool: null, name: 'b' } as never, { tool: 'b' }, []],
    [{ tool_args: 1, arguments: 2, tool_input: 3 }, { args: 1 }, ['arguments', 'tool_input']],
    [{ tool_input: {} }, { args: {} }, []],
    [{ response: 'r', content: 'c' }, { message: 'r' }, ['content']],
    [{ content: 'c' }, { message: 'c' }, []],
    [{ arguments: 2 }, { args: 2 }, []],
    [{ step: { tool: 't', args: {} }, tool: 'outer' }, { tool: 'outer', args: {} }, []],
    [{ step: { tool: 't' }, next_step: { tool: 'u' } }, { tool: 't' }, ['next_step']],
    [{ step: 'text', next_step: { tool: 'u' } }, { tool: 'u' }, ['step']],
    [{ step: { tool_name: 't', description: '' } }, { tool: 't' }, []],
    [{ action: 'complete', mood: 1 }, { action: 'complete' }, ['mood']],
  ])('%j is %j', ([given, fields, ignored]) => {
    const before = JSON.stringify(given);
    const normalised = normaliseOutput(given);
    expect(Object.fromEntries(normalised.fields)).toEqual(fields);
    expect(normalised.ignored).toEqual(ignored);
    expect(JSON.stringify(given), 'the input is not changed').toBe(before);
  });

  test('normalising twice is normalising once, whatever comes', () => {
    const names = [...CONTROLLER_FIELDS, 'step', 'next_step', 'tool_name', 'name', 'tool_args'];
    const key = fastCheck.oneof(fastCheck.constantFrom(...names, '__proto__'), fastCheck.string());
    const value = fastCheck.jsonValue({ maxDepth: 3 });
    fastCheck.assert(
      fastCheck.property(
        fastCheck.dictionary(key, fastCheck.oneof(value, fastCheck.dictionary(key, value))),
        (given) => {
          const once = normaliseOutput(given as JsonObject);
          const twice = normaliseOutput(Object.fromEntries(once.fields));
          expect(twice.fields).toEqual(once.fields);
          expect(twice.ignored).toEqual([]);
          expect(CONTROLLER_FIELDS).toEqual(expect.arrayContaining([...once.fields.keys()]));
        },
      ),
    );
  });

  test('no text makes the parser throw, and no think step ever comes out', () => {
    fastCheck.assert(
      fastCheck.property(fastCheck.oneof(fastCheck.string(), fastCheck.json()), (text) => {
        const parsed = parseAction(text);
        if (!parsed.ok) expect(parsed.error).not.toBe('');
      }),
    );
  });
});
