import { randomUUID } from 'node:crypto';

import { countCodePoints, systemClock } from '@orion/contracts';
import type { JsonObject, StoredToolOutput, ToolOutputStore } from '@orion/contracts';
import { askOutputs } from '@orion/tool-runner';
import type { OutputOperationName, OutputOptions, Traverser } from '@orion/tool-runner';

export type OutputQuestion = {
  /** What the tools `tool_outputs.*` do. */
  readonly operation: OutputOperationName;
  /** Their arguments; without an id the latest output is asked. */
  readonly arguments: JsonObject;
  /** A JSON text to ask, in place of a stored output. */
  readonly document?: string;
  /** Only outputs of this project; all of the store when left out. */
  readonly projectId?: string;
  /** The longest answer; without a limit when left out. A longer one rejects with OUTPUT_QUERY_LIMIT. */
  readonly maxCharacters?: number;
  readonly signal?: AbortSignal;
};

type OutputReader = OutputOptions['store'];

const OF_DOCUMENT = 'document';

/**
 * Answers as the tools do, as a JSON text. Rejects with what the tool would report to the model.
 */
export async function askOutput(
  { store: stored, traverser }: { readonly store: OutputReader; readonly traverser: Traverser },
  question: OutputQuestion,
): Promise<string> {
  const { operation, document } = question;
  const store = document === undefined ? stored : singleDocument(document);
  const project = document === undefined ? (question.projectId ?? null) : null;
  return askOutputs(
    {
      store,
      traverser,
      maxCharacters: question.maxCharacters ?? Infinity,
      everyProject: project === null,
      once: document !== undefined,
    },
    operation,
    await named(store, question, project),
    { projectId: project ?? '', signal: question.signal ?? new AbortController().signal },
  );
}

/** Keeps a JSON document, or any other text, as an output of no conversation. */
export function storeOutput(
  stored: ToolOutputStore,
  {
    text,
    name,
    projectId,
    createdAt,
  }: {
    readonly text: string;
    readonly name: string;
    readonly projectId: string;
    readonly createdAt: number;
  },
): Promise<StoredToolOutput> {
  return stored.put({
    id: randomUUID(),
    project_id: projectId,
    tool_name: 'store',
    conversation_id: '',
    message_id: '',
    created_at: createdAt,
    success: true,
    parameters: { name },
    output: isJson(text) ? text : JSON.stringify(text),
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** With the id of the latest output, where none is named. */
async function named(
  store: OutputReader,
  { operation, arguments: args }: OutputQuestion,
  projectId: string | null,
): Promise<JsonObject> {
  if (operation === 'list' || args['id'] !== undefined) return args;
  const latest = await store.list({
    limit: 1,
    ...(projectId === null ? {} : { project_id: projectId }),
  });
  const [output] = latest.outputs;
  return output === undefined ? args : { ...args, id: output.id };
}

/** A store that holds nothing else. */
function singleDocument(text: string): OutputReader {
  const output: StoredToolOutput = {
    id: OF_DOCUMENT,
    project_id: '',
    tool_name: 'file',
    conversation_id: '',
    message_id: '',
    created_at: systemClock.now(),
    success: true,
    bytes: Buffer.byteLength(text),
    characters: countCodePoints(text),
    cut: false,
    preview: '',
  };
  const isIt = (id: string): boolean => id === OF_DOCUMENT;
  return {
    find: async (id) => (isIt(id) ? output : null),
    read: async (id) => (isIt(id) ? { parameters: '{}', output: text } : null),
    list: async () => ({ outputs: [output], total: 1, damaged: 0 }),
  };
}
