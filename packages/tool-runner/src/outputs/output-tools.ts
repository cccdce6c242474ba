import { OrionError, defined } from '@orion/contracts';
import type {
  Clock,
  JsonObject,
  JsonValue,
  StoredToolOutput,
  Tool,
  ToolContext,
  ToolOutputStore,
} from '@orion/contracts';

import { INLINE_CHARACTERS } from './large-results.ts';
import { createLazyTraverser } from './lazy-traverser.ts';
import {
  COUNT_PARAMETERS,
  EXTRACT_PARAMETERS,
  LIST_PARAMETERS,
  READ_PARAMETERS,
  SAMPLE_PARAMETERS,
  STATS_PARAMETERS,
} from './output-parameters.ts';
import type { Question } from './traversal.ts';

export type OutputToolsOptions = {
  readonly store: Pick<ToolOutputStore, 'find' | 'read' | 'list'>;
  readonly clock: Clock;
  /** The longest answer, in characters of its JSON; 16,384 when left out. */
  readonly maxCharacters?: number;
  /** Whether outputs of other projects can be asked, too. */
  readonly everyProject?: boolean;
};

export type OutputTools = {
  readonly tools: readonly Tool[];
  /** Ends the thread of the questions. */
  close(): Promise<void>;
};

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
 * The six tools that ask stored outputs (R206–R213).
 *
 * 1. An output is asked only from its own project, and only from its own conversation, if it has one, unless the model
 *    names another.
 * 2. A document is parsed and asked in a thread that can be ended, never here; only short answers are.
 * 3. An answer that is too long for a conversation is an error, not a stored output again.
 */
export function createOutputTools(options: OutputToolsOptions): OutputTools {
  const desk = createDesk(options);
  const { extract, count, sample } = desk;
  const tools = [
    listTool(options),
    statsTool(desk),
    outputTool({
      name: 'extract',
      description:
        'Takes parts of a stored output by JSONPath (RFC 9535), such as $.items[*].id or $..name; all of it when paths is ' +
        'left out.',
      parameters: EXTRACT_PARAMETERS,
      normalize: (args) => ({ paths: ['$'], ...args }),
      execute: (args, context) => extract({ paths: ['$'], ...args }, context),
    }),
    outputTool({
      name: 'count',
      description:
        'Counts in a stored output: the items of arrays, the keys of objects, or the matches of a path, optionally only ' +
        'those that a filter holds for.',
      parameters: COUNT_PARAMETERS,
      execute: count,
    }),
    outputTool({
      name: 'sample',
      description:
        'Takes some items of an array in a stored output: at random, the first, the last, evenly spread, or a share of ' +
        'each kind.',
      parameters: SAMPLE_PARAMETERS,
      execute: sample,
    }),
    readTool(desk, options),
  ];
  return { tools, close: desk.close };
}

function listTool({ store, everyProject = false }: OutputToolsOptions): Tool {
  return outputTool({
    name: 'list',
    description:
      'Lists the stored outputs of earlier tool calls, the newest first, without their texts. Of this conversation when ' +
      'conversation_id is left out.',
    parameters: LIST_PARAMETERS,
    pollable: true,
    async execute(args, { projectId }) {
      const { sort, preview_length: preview = DEFAULT_PREVIEW, ...filter } = args as Listed;
      const { limit = DEFAULT_LIMIT, offset = 0, after, before } = filter;
      const { outputs, total, damaged } = await store.list({
        ...filter,
        ...defined({
          after: after === undefined ? undefined : millisecondsOf(after),
          before: before === undefined ? undefined : millisecondsOf(before),
          order: sort,
          project_id: everyProject ? undefined : projectId,
        }),
        limit,
        offset,
      });
      const result = {
        outputs: outputs.map((output) => listed(output, preview)),
        total,
        has_more: offset + limit < total,
      };
      return { result, ...(damaged === 0 ? {} : { details: { damaged_outputs: damaged } }) };
    },
  });
}

function statsTool({ ask }: Desk): Tool {
  return outputTool({
    name: 'stats',
    description:
      'Describes a stored output: its size, the structure and types of what is in it, and optionally a JSON Schema.',
    parameters: STATS_PARAMETERS,
    async execute(args, context) {
      const [found, answer] = await ask('stats', args, context);
      const { id, tool_name, created_at, bytes, characters, cut } = found;
      const size = { bytes, characters, formatted: formatBytes(bytes), ...(cut ? { cut } : {}) };
      return { result: { id, tool_name, created_at, size, ...answer } };
    },
  });
}

function readTool(
  { find, textsOf }: Desk,
  { maxCharacters = INLINE_CHARACTERS }: OutputToolsOptions,
): Tool {
  return outputTool({
    name: 'read',
    description:
      `Reads a stored output whole, up to ${INLINE_CHARACTERS} characters; of a longer one a part of its JSON text, by ` +
      'offset and limit.',
    parameters: READ_PARAMETERS,
    async execute(args, context) {
      const part = args as Part;
      const found = await find(part, context);
      if (part.offset !== undefined || part.limit !== undefined) {
        return { result: readPart(found, (await textsOf(found.id)).output, part) };
      }
      if (found.characters > maxCharacters) {
        throw new OrionError({
          code: 'OUTPUT_QUERY_LIMIT',
          message: `The output ${found.id} has ${found.characters} characters; at most ${maxCharacters} can be read at once.`,
          hint: 'Use tool_outputs.extract or tool_outputs.stats, or read a part with offset and limit.',
        });
      }
      return { result: wholeRecord(found, await textsOf(found.id)) };
    },
  });
}

/** What the tools share: how an output is found, read and asked. */
type Desk = {
  readonly find: (asked: Asked, context: ToolContext) => Promise<StoredToolOutput>;
  readonly textsOf: (id: string) => Promise<StoredTexts>;
  readonly ask: (
    kind: Question['kind'],
    args: JsonObject,
    context: ToolContext,
  ) => Promise<[StoredToolOutput, JsonObject]>;
  readonly extract: Tool['execute'];
  readonly count: Tool['execute'];
  readonly sample: Tool['execute'];
  readonly close: () => Promise<void>;
};

type StoredTexts = { readonly parameters: string; readonly output: string };

function createDesk(options: OutputToolsOptions): Desk {
  const { store, maxCharacters = INLINE_CHARACTERS, everyProject = false } = options;
  const traverser = createLazyTraverser(options.clock);
  const find: Desk['find'] = async (
    { id = '', conversation_id: conversationId },
    { projectId },
  ) => {
    if (id.trim() === '') throw notFound('There is no stored output yet.');
    const found = await store.find(id);
    if (found === null) throw notFound(`There is no stored output ${id}.`);
    if (!everyProject && found.project_id !== '' && found.project_id !== projectId) {
      throw notAllowed(`The output ${id} belongs to another project.`);
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
  const ask: Desk['ask'] = async (kind, args, context) => {
    const { id: _, conversation_id: __, ...question } = args;
    const found = await find(args as Asked, context);
    const document = { id: found.id, read: async () => (await textsOf(found.id)).output };
    const answer = await traverser.ask(document, { kind, ...question } as Question, context.signal);
    if (answer.length > maxCharacters) {
      throw new OrionError({
        code: 'OUTPUT_QUERY_LIMIT',
        message: `The answer has ${answer.length} characters; at most ${maxCharacters} can be shown.`,
        hint: 'Ask for less: a deeper path, tool_outputs.sample, or tool_outputs.read with offset and limit.',
      });
    }
    return [found, JSON.parse(answer) as JsonObject];
  };
  const answering =
    (kind: Question['kind']): Tool['execute'] =>
    async (args, context) => {
      const [, result] = await ask(kind, args, context);
      return { result };
    };
  return {
    find,
    textsOf,
    ask,
    extract: answering('extract'),
    count: answering('count'),
    sample: answering('sample'),
    close: () => traverser.close(),
  };
}

type OutputTool = Pick<Tool, 'execute' | 'pollable' | 'normalize'> & {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

function outputTool({ name: operation, description, parameters, ...tool }: OutputTool): Tool {
  const name = `tool_outputs.${operation}`;
  return {
    ...tool,
    definition: { name, description, parameters },
    effect: 'read',
    inPlanMode: true,
    resultMode: 'never',
    async execute(args, context) {
      try {
        return await tool.execute(args, context);
      } catch (error) {
        if (!OrionError.isInstance(error)) throw error;
        const { code, message, hint, retryable } = error;
        // Tool, operation, reason and what to do (R212).
        throw new OrionError({ code, message: `${name}: ${message}`, hint, retryable });
      }
    },
  };
}

function wholeRecord(found: StoredToolOutput, texts: StoredTexts): JsonObject {
  const { id, tool_name, conversation_id, message_id, created_at, success } = found;
  try {
    return {
      id,
      tool_name,
      conversation_id,
      message_id,
      created_at,
      success,
      parameters: JSON.parse(texts.parameters) as JsonValue,
      output: JSON.parse(texts.output) as JsonValue,
    };
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
  const preview = Array.from(output.preview).slice(0, previewLength).join('');
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

function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const inKib = bytes / 1_024;
  return inKib < 1_024 ? `${inKib.toFixed(1)} KiB` : `${(inKib / 1_024).toFixed(1)} MiB`;
}

function notFound(message: string): OrionError {
  return new OrionError({ code: 'OUTPUT_NOT_FOUND', message });
}

function notAllowed(message: string): OrionError {
  return new OrionError({ code: 'OUTPUT_NOT_ALLOWED', message });
}
