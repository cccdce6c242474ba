/**
 * Parses a write plan from a file, a program or a model.
 *
 * An invalid plan throws INVALID_PLAN. An invalid operation becomes an error of that operation, so that a report can
 * name all of them.
 */
import { isFields, OrionError, WRITE_OPERATIONS } from '@orion/contracts';
import type {
  EditLocation,
  Fields,
  InsertLocation,
  MarkerType,
  PlanContent,
  PlanOperationType,
  ReplaceLocation,
  WriteOperation,
  WritePlan,
  WritePlanOperation,
} from '@orion/contracts';

export const PLAN_OPERATIONS: readonly PlanOperationType[] = [...WRITE_OPERATIONS, 'replace_all'];

export const MAX_PLAN_OPERATIONS = 10_000;
export const MAX_MARKER_LENGTH: number = 16 * 1024;
/** No person or model writes longer expressions on purpose. */
export const MAX_PATTERN_LENGTH = 1000;

export type ParsedOperation =
  | { readonly kind: 'operation'; readonly operation: WritePlanOperation }
  | {
      readonly kind: 'invalid';
      /** Empty if they cannot be read. */
      readonly type: string;
      readonly target_file: string;
      readonly error: OrionError;
    };

export type ParsedPlan = {
  readonly plan: Omit<WritePlan, 'operations'>;
  readonly operations: readonly ParsedOperation[];
  readonly dry_run: boolean;
  /** Sentences for the author of the plan. */
  readonly warnings: readonly string[];
};

const PLAN_KEYS = [
  'intent',
  'target_file',
  'operations',
  'safety_checks',
  'dry_run',
  'atomic',
  'eol',
];
const SAFETY_KEYS = ['backup_required', 'must_exist'];
const OPERATION_KEYS = ['type', 'target_file', 'content', 'content_block'];
const INSERT_KEYS = ['marker', 'marker_type', 'position'];
const REPLACE_KEYS = ['start_marker', 'end_marker', 'marker_type', 'include_markers'];

/** Throws INVALID_PLAN. */
export function parsePlan(value: unknown): ParsedPlan {
  const fields = objectOf(value, 'A plan');
  const intent = fields['intent'];
  if (typeof intent !== 'string' || intent.trim() === '') {
    throw invalidPlan('intent is required: a text that says what the plan is for.');
  }
  const { operations } = fields;
  if (!Array.isArray(operations) || operations.length === 0) {
    throw invalidPlan('operations is required: a list of at least one operation.');
  }
  if (operations.length > MAX_PLAN_OPERATIONS) {
    throw invalidPlan(`A plan has at most ${MAX_PLAN_OPERATIONS} operations.`);
  }
  const target = fields['target_file'];
  if (target !== undefined && typeof target !== 'string') {
    throw invalidPlan('target_file must be a text.');
  }
  const safety = objectOf(fields['safety_checks'] ?? {}, 'safety_checks');
  // An unknown check would silently not be made.
  const unknownCheck = Object.keys(safety).find((key) => !SAFETY_KEYS.includes(key));
  if (unknownCheck !== undefined) {
    throw invalidPlan(
      `safety_checks has no ${JSON.stringify(unknownCheck)}; there are ${SAFETY_KEYS.join(' and ')}.`,
    );
  }
  const eol = fields['eol'] ?? 'match';
  if (eol !== 'match' && eol !== 'as-is') throw invalidPlan("eol must be 'match' or 'as-is'.");
  const warnings = ignored(fields, PLAN_KEYS, 'the plan');
  return {
    plan: {
      intent,
      must_exist: flag(safety, 'must_exist', invalidPlan),
      backup_required: flag(safety, 'backup_required', invalidPlan),
      atomic: flag(fields, 'atomic', invalidPlan, true),
      eol,
    },
    operations: operations.map((operation: unknown, index) =>
      readOperation(operation, target, (own, known) =>
        warnings.push(...ignored(own, known, `operation ${index}`)),
      ),
    ),
    dry_run: flag(fields, 'dry_run', invalidPlan),
    warnings,
  };
}

function objectOf(value: unknown, what: string): Fields {
  if (!isFields(value)) throw invalidPlan(`${what} must be a JSON object.`);
  return value;
}

function flag(
  fields: Fields,
  name: string,
  invalid: (message: string) => OrionError,
  otherwise = false,
): boolean {
  const value = fields[name] ?? otherwise;
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false.`);
  return value;
}

function ignored(fields: Fields, known: readonly string[], where: string): string[] {
  return Object.keys(fields)
    .filter((key) => !known.includes(key))
    .map((key) => `${JSON.stringify(key.slice(0, 80))} in ${where} is not known and was ignored.`);
}

function readOperation(
  value: unknown,
  planTarget: string | undefined,
  checkKeys: (fields: Fields, known: readonly string[]) => void,
): ParsedOperation {
  const fields = isFields(value) ? value : {};
  const type = fields['type'];
  const target = fields['target_file'] ?? planTarget;
  try {
    if (!isOperationType(type)) {
      throw invalidOperation(`type must be ${listed(PLAN_OPERATIONS)}.`);
    }
    if (typeof target !== 'string' || target.trim() === '') {
      throw new OrionError({
        code: 'INVALID_TARGET',
        message: 'target_file is required, in the operation or in the plan.',
      });
    }
    const location = locationOf(fields, type);
    checkKeys(fields, [...OPERATION_KEYS, ...location.keys]);
    const base = { target_file: target, content: contentOf(fields) };
    return { kind: 'operation', operation: { ...base, ...location.own } as WritePlanOperation };
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    return {
      kind: 'invalid',
      type: typeof type === 'string' ? type : '',
      target_file: typeof target === 'string' ? target : '',
      error,
    };
  }
}

function isOperationType(value: unknown): value is PlanOperationType {
  return PLAN_OPERATIONS.some((type) => type === value);
}

function contentOf(fields: Fields): PlanContent {
  const { content, content_block: block } = fields;
  if (content !== undefined && block !== undefined && content !== block) {
    throw new OrionError({
      code: 'INVALID_CONTENT',
      message: 'content and content_block differ; give one of them.',
      hint: 'content_block is another name of content.',
    });
  }
  const text = content ?? block;
  if (typeof text !== 'string') {
    throw new OrionError({
      code: 'INVALID_CONTENT',
      message: 'content is required and must be a text; "" is allowed.',
      hint: 'Give the text of the operation as a JSON string.',
    });
  }
  return { kind: 'text', text };
}

/** The properties that are particular to this type of operation, and the keys that may contain them. */
function locationOf(
  fields: Fields,
  type: PlanOperationType,
): { readonly own: object; readonly keys: readonly string[] } {
  switch (type) {
    case 'create':
    case 'overwrite':
      return { own: { type }, keys: [] };
    case 'append': {
      const newLine = flag(fields, 'start_on_new_line', invalidOperation);
      return {
        own: { type, ...(newLine ? { start_on_new_line: true } : {}) },
        keys: ['start_on_new_line'],
      };
    }
    case 'insert': {
      const { location_marker: marker } = fields;
      const flat = marker === undefined ? fields : { ...fields, marker };
      return {
        own: { type, location: readInsertLocation(fields['location'] ?? flat, 'location_marker') },
        keys: ['location', 'location_marker', ...INSERT_KEYS],
      };
    }
    case 'replace':
      return {
        own: { type, location: readReplaceLocation(fields['location'] ?? fields) },
        keys: ['location', ...REPLACE_KEYS],
      };
    case 'replace_all': {
      const count = fields['expected_count'];
      if (count !== undefined && (!Number.isSafeInteger(count) || (count as number) < 1)) {
        throw invalidOperation('expected_count must be a whole number of at least 1.');
      }
      const find = markerText(fields, 'find', 'find');
      return {
        own: { type, find, ...(count === undefined ? {} : { expected_count: count }) },
        keys: ['find', 'expected_count'],
      };
    }
  }
}

/** Parses the location of a call of begin or of an operation. Throws INVALID_OPERATION. */
export function readLocation(
  value: unknown,
  operation: Extract<WriteOperation, 'insert' | 'replace'>,
): EditLocation {
  return operation === 'insert' ? readInsertLocation(value, 'marker') : readReplaceLocation(value);
}

function readInsertLocation(value: unknown, name: string): InsertLocation {
  const fields = locationFields(value, INSERT_KEYS);
  const position = fields['position'];
  const type = markerType(fields);
  const marker = markerText(fields, 'marker', name, type);
  if (position !== 'before' && position !== 'after') {
    throw invalidOperation("position is required: 'before' or 'after' the line of the marker.");
  }
  return { marker, marker_type: type, position };
}

function readReplaceLocation(value: unknown): ReplaceLocation {
  const fields = locationFields(value, REPLACE_KEYS);
  const type = markerType(fields);
  const include = flag(fields, 'include_markers', invalidOperation);
  return {
    start_marker: markerText(fields, 'start_marker', 'start_marker', type),
    end_marker: markerText(fields, 'end_marker', 'end_marker', type),
    marker_type: type,
    include_markers: include,
  };
}

function locationFields(value: unknown, keys: readonly string[]): Fields {
  if (!isFields(value)) throw invalidOperation(`location is required, with ${keys.join(', ')}.`);
  return value;
}

function markerType(fields: Fields): MarkerType {
  const type = fields['marker_type'] ?? 'string';
  if (type !== 'string' && type !== 'regex') {
    throw invalidOperation("marker_type must be 'string' or 'regex'.");
  }
  return type;
}

function markerText(
  fields: Fields,
  key: string,
  name: string,
  type: MarkerType = 'string',
): string {
  const text = fields[key];
  if (typeof text !== 'string' || text === '') {
    throw invalidOperation(`${name} is required: a text that is not empty.`);
  }
  const limit = type === 'regex' ? MAX_PATTERN_LENGTH : MAX_MARKER_LENGTH;
  if (text.length > limit) {
    throw invalidOperation(`${name} has more than ${limit} characters.`);
  }
  if (!text.isWellFormed()) throw invalidOperation(`${name} has half of a surrogate pair.`);
  return text;
}

function invalidPlan(message: string): OrionError {
  return new OrionError({ code: 'INVALID_PLAN', message });
}

function invalidOperation(message: string): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message,
    hint: 'Correct the operation; see docs/guides/write-plans.md.',
  });
}

export function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return `${quoted.slice(0, -1).join(', ')}, or ${quoted.at(-1) ?? ''}`;
}
