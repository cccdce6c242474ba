import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';

import type { OutputQuestion } from '@orion/agent';
import { defined, OrionError } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import { usage } from '../command-line/usage.ts';
import type { CommandContext } from '../process/context.ts';
import { jsonLine } from '../terminal/sanitize.ts';
import { printJson, withOrion } from './with-orion.ts';

/** The options of all commands that ask outputs; each has those of its own operation. */
export type OutputsOptions = TurnOptions & {
  readonly file?: string;
  readonly path?: readonly string[];
  readonly tool?: string;
  readonly conversation?: string;
  readonly after?: number;
  readonly before?: number;
  readonly sort?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly maxDepth?: number;
  readonly schema?: boolean;
  readonly flatten?: boolean;
  readonly includePaths?: boolean;
  readonly default?: string;
  readonly by?: string;
  readonly filter?: string;
  readonly size?: number;
  readonly method?: string;
  readonly seed?: number;
  readonly stride?: number;
  readonly strataPath?: string;
};

type Operation = OutputQuestion['operation'];
type AskOutputs = (
  context: CommandContext,
  id: string | undefined,
  options: OutputsOptions,
) => Promise<void>;

/** The longest document that is asked or stored, as a text in memory. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** `orion outputs list`. */
export async function listOutputsCommand(
  context: CommandContext,
  options: OutputsOptions,
): Promise<void> {
  await answer(context, 'list', null, options);
}

/** `orion outputs stats|extract|count|sample|read [id]`: prints the answer as JSON. */
export function askOutputsCommand(operation: Exclude<Operation, 'list'>): AskOutputs {
  return async (context, id, options) => {
    if (id !== undefined && options.file !== undefined) {
      throw usage('An id and --file exclude each other.');
    }
    await answer(context, operation, id ?? null, options);
  };
}

/** `orion outputs store <file|->`. */
export async function storeOutputCommand(
  context: CommandContext,
  file: string,
  options: TurnOptions,
): Promise<void> {
  await withOrion(context, options, {}, async ({ orion, configuration }) => {
    const document = await readDocument(context, file);
    const { id, bytes, cut } = await orion.storeOutput(document, file);
    if (configuration.json) await printJson(context, { id, bytes, cut });
    else await context.stdout.write(`${id}\n`);
    if (cut) context.screen.line('It was too large: only its beginning is stored.', 'warning');
  });
}

async function answer(
  context: CommandContext,
  operation: Operation,
  id: string | null,
  options: OutputsOptions,
): Promise<void> {
  const document =
    options.file === undefined ? undefined : await readDocument(context, options.file);
  await withOrion(context, options, { createStore: false }, async ({ orion, configuration }) => {
    const projectId = configuration.projectId ?? (orion.sharesStore ? orion.projectId : undefined);
    const found = await orion.askOutput({
      operation,
      arguments: { ...argumentsOf(operation, options), ...(id === null ? {} : { id }) },
      ...defined({ document, projectId }),
    });
    await context.stdout.write(jsonLine(found));
  });
}

/** The tool's arguments. What does not fit is refused by the tool's own schema. */
function argumentsOf(operation: Operation, options: OutputsOptions): JsonObject {
  const { path: paths, limit, offset } = options;
  switch (operation) {
    case 'list': {
      const { tool, conversation, after, before, sort } = options;
      const which = { tool_name: tool, conversation_id: conversation, after, before };
      return defined({ ...which, sort, limit, offset });
    }
    case 'stats':
      return defined({ paths, max_depth: options.maxDepth, include_schema: options.schema });
    case 'extract': {
      const { flatten, includePaths, default: text } = options;
      const value = text === undefined ? undefined : jsonOrText(text);
      return defined({ paths, flatten, include_paths: includePaths, default_value: value });
    }
    case 'count': {
      const { by, filter } = options;
      return { queries: (paths ?? ['$']).map((path) => defined({ path, count: by, filter })) };
    }
    case 'sample': {
      const { size, method, seed, stride, strataPath } = options;
      if (paths !== undefined && paths.length > 1) throw usage('A sample has one --path.');
      const [path] = paths ?? [];
      return defined({ path, size, method, seed, stride, strata_path: strataPath });
    }
    case 'read':
      return defined({ offset, limit });
    default:
      return operation satisfies never;
  }
}

function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

async function readDocument(context: CommandContext, file: string): Promise<string> {
  const stream: AsyncIterable<Uint8Array> =
    file === '-' ? context.stdin : createReadStream(resolve(file));
  try {
    return await readText(bounded(stream, file));
  } catch (error) {
    if (OrionError.isInstance(error)) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw usage(`${file} cannot be read (${code}).`);
  }
}

async function* bounded(
  stream: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_DOCUMENT_BYTES) throw usage(`${file} is longer than 256 MiB.`);
    yield chunk;
  }
}
