import { OrionError, defined, firstCodePoints } from '@orion/contracts';
import type {
  JsonObject,
  JsonValue,
  StoredToolOutput,
  Tool,
  ToolContext,
  ToolOutputStore,
} from '@orion/contracts';

import { formatBytes } from '../format-bytes.ts';
import { INLINE_CHARACTERS } from './large-results.ts';
import {
  COUNT_PARAMETERS,
  EXTRACT_PARAMETERS,
  LIST_PARAMETERS,
  READ_PARAMETERS,
  SAMPLE_PARAMETERS,
  STATS_PARAMETERS,
} from './output-parameters.ts';
import type { Question } from './traversal.ts';
import type { Traverser } from './traverser.ts';

export type OutputOptions = {
  readonly store: Pick<ToolOutputStore, 'find' | 'read' | 'list'>;
  /** Parses and asks the documents; its owner closes it. */
  readonly traverser: Traverser;
  /** The longest answer, in characters of its JSON; 16,384 when left out. */
  readonly maxCharacters?: number;
  /** Whether outputs of other projects can be asked, too. */
  readonly everyProject?: boolean;
  /** No document is asked twice, so none is kept for the next question. */
  readonly once?: boolean;
};

export type OutputOperationName = 'list' | 'stats' | 'extract' | 'count' | 'sample' | 'read';

/** Something that can be asked of stored outputs. */
export type OutputOperation = Pick<Tool, 'pollable' | 'normalize'> & {
  readonly operation: OutputOperationName;
  readonly description: string;
  readonly parameters: JsonObject;
  /** `args` fit the parameters. */
  answer(args: JsonObject, context: AskContext): Promise<OutputAnswer>;
};

export type AskContext = Pick<ToolContext, 'projectId' | 'signal'>;

/** A JSON text: a long answer is written in the thread that found it, and parsed only by who needs its values. */
export type OutputAnswer = { readonly json: string; readonly details?: JsonObject };

/** What the schemas let through. */
type Asked = { readonly id?: string; readonly conversation_id?: string };
type Listed = Asked & {
  readonly tool_name?: string;
  readonly success?: boolean;
  readonly after?: number;
  readonly before?: number;
  readonly sort?: 'newest' | 'oldest';
  readonly limit?: number;
  readonly offset?: number;
  readonly preview_length?: number;
};
type Part = Asked & { readonly offset?: number; readonly limit?: number };

const DEFAULT_LIMIT = 20;
const DEFAULT_PREVIEW = 100;
/** Smaller times are seconds (R206). */
const FIRST_MILLISECOND_TIME = 1e11;

/**
 * The six operations on stored outputs (R206–R212).
 *
 * 1. An output is asked only from its own project, and only from its own conversation, if it has one, unless the model
 *    names another.
 * 2. A document is parsed and asked in a thread that can be ended, never here.
 * 3. An answer that is too long for a conversation is an error, not a stored output again.
 */
export function outputOperations(options: OutputOptions): readonly OutputOperation[] {
  const desk = createDesk(options);
  return [
    listOperation(options),
    statsOperation(desk),
    {
      operation: 'extract',
      description:
        'Takes parts of a stored output by JSONPath (RFC 9535), such as $.items[*].id or $..name; all of it when paths is ' +
        'left out.',
      parameters: EXTRACT_PARAMETERS,
      normalize: (args) => ({ paths: ['$'], ...args }),
      answer: (args, context) => desk.answer('extract', { paths: ['$'], ...args }, context),
    },
    {
      operation: 'count',
      description:
        'Counts in a stored output: the items of arrays, the keys of objects, or the matches of a path, optionally only ' +
        'those that a filter holds for.',
      parameters: COUNT_PARAMETERS,
      answer: (args, context) => desk.answer('count', args, context),
    },
    {
      operation: 'sample',
      description:
        'Takes some items of an array in a stored output: at random, the first, the last, evenly spread, or a share of ' +
        'each kind.',
      parameters: SAMPLE_PARAMETERS,
      answer: (args, context) => desk.answer('sample', args, context),
    },
    readOperation(desk, options),
  ];
}

function listOperation({ store, everyProject = false }: OutputOptions): OutputOperation {
  return {
    operation: 'list',
    description:
      'Lists the stored outputs of earlier tool calls, the newest first, without their texts. Of this conversation when ' +
      'conversation_id is left out.',
    parameters: LIST_PARAMETERS,
    pollable: true,
    async answer(args, { projectId }) {
      const { sort, preview_length: preview = DEFAULT_PREVIEW, ...filter } = args as Listed;
      const { limit = DEFAULT_LIMIT, offset = 0, after, before } = filter;
      const { outputs, total, damaged } = await store.list({
        ...filter,
        ...defined({
          after: after === undefined ? undefined : wholeNumber(Math.floor(millisecondsOf(after))),
          before: before === undefined ? undefined : wholeNumber(Math.ceil(millisecondsOf(before))),
          order: sort,
          project_id: everyProject ? undefined : projectId,
        }),
        limit,
        offset,
      });
      const json = JSON.stringify({
        outputs: outputs.map((output) => listed(output, preview)),
        total,
        has_more: offset + limit < total,
      });
      return { json, ...(damaged === 0 ? {} : { details: { damaged_outputs: damaged } }) };
    },
  };
}

function statsOperation({ ask }: Desk): OutputOperation {
  return {
    operation: 'stats',
    description:
      'Describes a stored output: its size, the structure and types of what is in it, and optionally a JSON Schema.',
    parameters: STATS_PARAMETERS,
    async answer(args, context) {
      const [found, json] = await ask('stats', args, context);
      const { id, tool_name, created_at, bytes, characters, cut } = found;
      const size = { bytes, characters, formatted: formatBytes(bytes), ...(cut ? { cut } : {}) };
      return { json: joined({ id, tool_name, created_at, size }, json) };
    },
  };
}

function readOperation(
  { find, textsOf, traverse }: Desk,
  { maxCharacters = INLINE_CHARACTERS }: OutputOptions,
): OutputOperation {
  return {
    operation: 'read',
    description:
      `Reads a stored output whole, up to ${INLINE_CHARACTERS} characters; of a longer one a part of its JSON text, by ` +
      'offset and limit.',
    parameters: READ_PARAMETERS,
    async answer(args, context) {
      const part = args as Part;
      const found = await find(part, context);
      if (part.offset !== undefined || part.limit !== undefined) {
        return { json: JSON.stringify(readPart(found, (await textsOf(found.id)).output, part)) };
      }
      if (found.characters > maxCharacters) {
        throw new OrionError({
          code: 'OUTPUT_QUERY_LIMIT',
          message: `The output ${found.id} has ${found.characters} characters; at most ${maxCharacters} can be read at once.`,
          hint: 'Use tool_outputs.extract or tool_outputs.stats, or read a part with offset and limit.',
        });
      }
      const { id, tool_name, conversation_id, message_id, created_at, success } = found;
      const parameters = parametersOf(id, (await textsOf(id)).parameters);
      return {
        json: joined(
          { id, tool_name, conversation_id, message_id, created_at, success, parameters },
          await traverse(id, { kind: 'read' }, context.signal),
        ),
      };
    },
  };
}

/** What the operations share: how an output is found, read and asked. */
type Desk = {
  readonly find: (asked: Asked, context: AskContext) => Promise<StoredToolOutput>;
  readonly textsOf: (id: string) => Promise<StoredTexts>;
  readonly traverse: (id: string, question: Question, signal: AbortSignal) => Promise<string>;
  readonly ask: (
    kind: Question['kind'],
    args: JsonObject,
    context: AskContext,
  ) => Promise<[StoredToolOutput, string]>;
  readonly answer: (
    kind: Question['kind'],
    args: JsonObject,
    context: AskContext,
  ) => Promise<OutputAnswer>;
};

type StoredTexts = { readonly parameters: string; readonly output: string };

function createDesk(options: OutputOptions): Desk {
  const { store, traverser, maxCharacters = INLINE_CHARACTERS } = options;
  const { everyProject = false, once = false } = options;
  const find: Desk['find'] = async (
    { id = '', conversation_id: conversationId },
    { projectId },
  ) => {
    if (id.trim() === '') throw notFound('There is no stored output yet.');
    const found = await store.find(id);
    if (found === null) throw notFound(`There is no stored output ${id}.`);
    if (!everyProject && found.project_id !== '' && found.project_id !== projectId) {
      throw notAllowed(
        `The output ${id} belongs to another project.`,
        'Choose one that tool_outputs.list shows.',
      );
    }
    if (conversationId !== undefined && !['', conversationId].includes(found.conversation_id)) {
      throw notAllowed(`The output ${id} does not belong to the conversation ${conversationId}.`);
    }
    return found;
  };
  const textsOf: Desk['textsOf'] = async (id) => {
    const found = await store.read(id);
    if (found === null) throw notFound(`There is no stored output ${id}.`);
    return found;
  };
  const traverse: Desk['traverse'] = (id, question, signal) => {
    const read = async (): Promise<string> => (await textsOf(id)).output;
    return traverser.ask({ id, once, read }, question, signal);
  };
  const ask: Desk['ask'] = async (kind, args, context) => {
    const { id: _, conversation_id: __, ...question } = args;
    const found = await find(args as Asked, context);
    const json = await traverse(found.id, { kind, ...question } as Question, context.signal);
    if (json.length > maxCharacters) {
      throw new OrionError({
        code: 'OUTPUT_QUERY_LIMIT',
        message: `The answer has ${json.length} characters; at most ${maxCharacters} can be shown.`,
        hint: 'Ask for less: a deeper path, tool_outputs.sample, or tool_outputs.read with offset and limit.',
      });
    }
    return [found, json];
  };
  return {
    find,
    textsOf,
    traverse,
    ask,
    answer: async (kind, args, context) => ({ json: (await ask(kind, args, context))[1] }),
  };
}

/** One object with the members of both, the second of which is a JSON text and not empty. */
function joined(first: JsonObject, second: string): string {
  return `${JSON.stringify(first).slice(0, -1)},${second.slice(1)}`;
}

function parametersOf(id: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new OrionError({ code: 'OUTPUT_CORRUPT', message: `The output ${id} is damaged.` });
  }
}

function readPart({ id, characters }: StoredToolOutput, text: string, part: Part): JsonObject {
  const { offset = 0, limit = INLINE_CHARACTERS } = part;
  const start = unitOf(text, 0, offset);
  const end = unitOf(text, start, limit);
  return { id, offset, total_chars: characters, text: text.slice(start, end) };
}

/** Where in the text so many code points after `from` have passed. */
function unitOf(text: string, from: number, codePoints: number): number {
  let at = from;
  for (let left = codePoints; left > 0 && at < text.length; left -= 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

function listed(output: StoredToolOutput, previewLength: number): JsonObject {
  const { id, tool_name, conversation_id, created_at, success, bytes, characters, cut } = output;
  const preview = firstCodePoints(output.preview, previewLength);
  return {
    id,
    tool_name,
    conversation_id,
    created_at,
    success,
    size_bytes: bytes,
    size_chars: characters,
    ...(cut ? { cut } : {}),
    ...(previewLength === 0 ? {} : { preview }),
  };
}

function millisecondsOf(time: number): number {
  return time < FIRST_MILLISECOND_TIME ? time * 1_000 : time;
}

/** A number that every store can compare; no time lies beyond. */
function wholeNumber(value: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, value));
}

function notFound(message: string): OrionError {
  return new OrionError({ code: 'OUTPUT_NOT_FOUND', message });
}

function notAllowed(message: string, hint?: string): OrionError {
  return new OrionError({ code: 'OUTPUT_NOT_ALLOWED', message, ...defined({ hint }) });
}
