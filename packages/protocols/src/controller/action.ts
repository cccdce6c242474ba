import { isFields, nestsDeeper } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';
import { normaliseOutput } from './normalise.ts';
import { MAX_DEPTH, readOutput } from './output-text.ts';

export type ResumeTarget = 'reflecting' | 'controller';

/** A decision of a controller model. Each kind holds only the fields it needs, and nothing is invented (R193). */
export type ControllerAction =
  | {
      readonly kind: 'tool';
      readonly thinking: JsonObject;
      readonly tool: string;
      readonly args: JsonObject;
      readonly description: string | null;
    }
  | { readonly kind: 'complete'; readonly message: string; readonly thinking: JsonObject | null }
  | {
      readonly kind: 'ask_user';
      readonly question: string;
      readonly context: string | null;
      readonly resumeTo: ResumeTarget;
      readonly thinking: JsonObject | null;
    }
  | { readonly kind: 'guardrail_stop'; readonly reason: string; readonly message: string | null };

export type ParsedOutput =
  | { readonly ok: true; readonly action: ControllerAction; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly error: string };

const ACTIONS = '`next_step`, `complete`, `guardrail_stop`, `ask_user`';

/** Parses the text of a model into an action, or explains what is wrong with it. */
export function parseAction(text: string): ParsedOutput {
  try {
    const output = readOutput(text);
    if (typeof output === 'string') throw wrong(output);
    const { fields, ignored } = normaliseOutput(output);
    return { ok: true, action: actionOf(fields), ignored };
  } catch (error) {
    if (error instanceof InvalidOutput) return { ok: false, error: error.message };
    throw error;
  }
}

/** Used within this file only: fields are read one by one, and the first invalid one ends the parsing. */
class InvalidOutput extends Error {}

type Fields = ReadonlyMap<string, JsonValue>;

function actionOf(fields: Fields): ControllerAction {
  const name = text(fields, 'action');
  switch (name) {
    case 'next_step':
      return nextStep(fields);
    case 'complete':
      return { kind: 'complete', message: needed(fields, 'message'), thinking: thinking(fields) };
    case 'guardrail_stop':
      return {
        kind: 'guardrail_stop',
        reason: needed(fields, 'reason'),
        message: text(fields, 'message'),
      };
    case 'ask_user':
      return askUser(fields, needed(fields, 'question'));
    case 'respond': {
      const message = text(fields, 'message');
      if (message !== null) return { kind: 'complete', message, thinking: thinking(fields) };
      throw unknownAction(name);
    }
    case null:
      throw wrong('missing field `action`');
    default:
      throw unknownAction(name);
  }
}

function nextStep(fields: Fields): ControllerAction {
  const thought = thinking(fields);
  if (thought === null) throw wrong('missing field `thinking`');
  const type = text(fields, 'type') ?? inferredType(fields);
  switch (type) {
    case 'tool':
      return {
        kind: 'tool',
        thinking: thought,
        tool: neededByStep(fields, type, 'tool'),
        args: argsOf(fields.get('args')),
        description: text(fields, 'description'),
      };
    case 'respond': {
      const message = neededByStep(fields, type, 'message');
      return { kind: 'complete', message, thinking: thought };
    }
    case 'ask_user':
      return askUser(fields, neededByStep(fields, type, 'question'));
    case null:
      throw new InvalidOutput(
        "Cannot determine step type: provide 'type' or 'tool'/'message'/'question'",
      );
    default:
      throw new InvalidOutput(`Unknown step type: ${type}`);
  }
}

/** A description alone does not determine the type (R191). */
function inferredType(fields: Fields): string | null {
  if (fields.has('tool')) return 'tool';
  if (fields.has('question')) return 'ask_user';
  return fields.has('message') ? 'respond' : null;
}

function askUser(fields: Fields, question: string): ControllerAction {
  const resumeTo = text(fields, 'resume_to') ?? 'reflecting';
  if (resumeTo !== 'reflecting' && resumeTo !== 'controller') {
    throw wrong(`unknown variant \`${resumeTo}\`, expected \`reflecting\` or \`controller\``);
  }
  return {
    kind: 'ask_user',
    question,
    context: text(fields, 'context'),
    resumeTo,
    thinking: thinking(fields),
  };
}

/** Any value other than an object is taken as the task (R193). */
function thinking(fields: Fields): JsonObject | null {
  const value = fields.get('thinking');
  if (value === undefined) return null;
  return isFields(value) ? value : { task: value };
}

/** Models send arguments as an object, as JSON in a string, or as something simpler (R196). */
function argsOf(value: JsonValue | undefined): JsonObject {
  if (value === undefined) return {};
  if (isFields(value)) return value;
  if (typeof value !== 'string') return { value };
  if (nestsDeeper(value, MAX_DEPTH)) return { input: value };
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(value) as JsonValue;
  } catch {
    return { input: value };
  }
  return isFields(parsed) ? parsed : { value: parsed };
}

/** Blank texts have already been removed. */
function text(fields: Fields, name: string): string | null {
  const value = fields.get(name);
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw wrong(`field \`${name}\` must be a string`);
}

function needed(fields: Fields, name: string): string {
  const value = text(fields, name);
  if (value === null) throw wrong(`missing field \`${name}\``);
  return value;
}

function neededByStep(fields: Fields, type: string, name: string): string {
  const value = text(fields, name);
  if (value !== null) return value;
  throw new InvalidOutput(`next_step type=${type} requires non-empty '${name}' field`);
}

function unknownAction(name: string): InvalidOutput {
  return wrong(`unknown variant \`${name}\`, expected one of ${ACTIONS}`);
}

function wrong(what: string): InvalidOutput {
  return new InvalidOutput(`Invalid controller output: ${what}`);
}
