import { expect, test } from 'vitest';
import { CONTROLLER_PROMPT_FIELDS, controllerPrompt } from './prompt.ts';
import { CONTROLLER_FIELDS, CONTROLLER_FORMAT, CONTROLLER_SCHEMA } from './schema.ts';

const FORBIDDEN =
  /^(?:oneOf|anyOf|allOf|not|if|then|else|step|think|next_step|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/;

test('the schema is flat, closed and the same everywhere (R187)', () => {
  expect(CONTROLLER_FIELDS).toEqual([
    'action',
    'thinking',
    'type',
    'description',
    'tool',
    'args',
    'message',
    'reason',
    'question',
    'context',
    'resume_to',
  ]);
  const { properties, ...root } = CONTROLLER_SCHEMA;
  expect(root).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['action'],
    additionalProperties: false,
  });
  expect(properties).toMatchObject({
    action: { enum: ['next_step', 'complete', 'guardrail_stop', 'ask_user'] },
    thinking: { additionalProperties: false },
    type: { enum: ['tool', 'respond', 'ask_user'] },
    args: {},
    resume_to: { enum: ['reflecting', 'controller'] },
  });
  const keys: string[] = [];
  JSON.stringify(CONTROLLER_SCHEMA, (key, value: unknown) => {
    keys.push(key);
    return value;
  });
  expect(keys.filter((key) => FORBIDDEN.test(key))).toEqual([]);
  expect(CONTROLLER_FORMAT).toMatchObject({ type: 'json_schema', strict: false });
});

test('the prompt shows exactly the fields of the schema, and no nested step (R188)', () => {
  expect(CONTROLLER_PROMPT_FIELDS).toEqual(CONTROLLER_FIELDS);
  const prompt = controllerPrompt([]);
  const shown = [...prompt.matchAll(/^ {2}"(\w+)":/gm)].map((match) => match[1]);
  expect(shown).toEqual(CONTROLLER_FIELDS);
  expect(prompt).toContain(
    "If action is next_step, include a mandatory top-level 'thinking' object.",
  );
  const sentence =
    "Use the 'thinking' field to reason before any action. Do not output a separate think step.";
  expect(prompt).toContain(sentence);
  const rest = prompt.replace(sentence, '');
  expect(rest).not.toMatch(/"step"|\bthink\b|type="?think/);
  expect(prompt).toContain('AVAILABLE TOOLS\nNone');
});

test('tools stand in the prompt with their arguments', () => {
  const parameters = { type: 'object', properties: { path: { type: 'string' } } } as const;
  expect(controllerPrompt([{ name: 'read_file', description: 'Reads.', parameters }])).toContain(
    `- read_file: Reads.\n  args: ${JSON.stringify(parameters)}`,
  );
});
