import { isFields } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';
import { CONTROLLER_FIELDS } from './schema.ts';

/** Names that models use for a field, in order of precedence (R189). */
const ALIASES: readonly (readonly [canonical: string, aliases: readonly string[]])[] = [
  ['tool', ['tool_name', 'name']],
  ['args', ['tool_args', 'arguments', 'tool_input']],
  ['message', ['response', 'content']],
];
const WRAPPERS: readonly string[] = ['step', 'next_step'];

export type NormalisedOutput = {
  readonly fields: ReadonlyMap<string, JsonValue>;
  /** Names of what was left out: unknown fields, unused aliases, and wrappers that are not objects. */
  readonly ignored: readonly string[];
};

/**
 * Renames the fields of an output to those of the schema. Works on a copy and is idempotent.
 *
 * 1. Null and blank text count as absent, even if a canonical name is blank and its alias is not (R189).
 * 2. A nested step is flattened. Existing outer fields take precedence.
 * 3. The canonical name takes precedence over its aliases, and an earlier alias over a later one (R190).
 */
export function normaliseOutput(output: JsonObject): NormalisedOutput {
  const given = present(output);
  const ignored: string[] = [];

  let lifted = false;
  for (const wrapper of WRAPPERS) {
    const inner = given.get(wrapper);
    if (inner === undefined) continue;
    given.delete(wrapper);
    if (lifted || !isFields(inner)) {
      ignored.push(wrapper);
      continue;
    }
    lifted = true;
    for (const [name, value] of present(inner)) if (!given.has(name)) given.set(name, value);
  }

  for (const [canonical, aliases] of ALIASES) {
    for (const alias of aliases) {
      const value = given.get(alias);
      if (value === undefined) continue;
      given.delete(alias);
      if (given.has(canonical)) ignored.push(alias);
      else given.set(canonical, value);
    }
  }

  const fields = new Map<string, JsonValue>();
  for (const name of CONTROLLER_FIELDS) {
    const value = given.get(name);
    if (value !== undefined) fields.set(name, value);
    given.delete(name);
  }
  return { fields, ignored: [...ignored, ...given.keys()] };
}

/** A `Map`, so that a field named `__proto__` is an ordinary field. */
function present(object: JsonObject): Map<string, JsonValue> {
  return new Map(
    Object.entries(object).filter(
      (entry): entry is [string, JsonValue] =>
        entry[1] !== undefined && entry[1] !== null && !isBlank(entry[1]),
    ),
  );
}

function isBlank(value: JsonValue): boolean {
  return typeof value === 'string' && value.trim() === '';
}
