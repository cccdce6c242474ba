import { defined, OrionError } from '@orion/contracts';
import type { JsonObject, JsonValue, TextExcerpt, Tool, Workspace } from '@orion/contracts';

export const READ_FILE_MAX_LINES: number = 2000;
export const READ_FILE_MAX_BYTES: number = 64 * 1024;
/** Of those bytes as JSON, in which some characters are longer. More is stored, as a protocol would cut it. */
const INLINE_CHARACTERS = 112 * 1024;

/** Written without `defineTool`, so that zod is not loaded: every turn offers this tool, but few call it. */
const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The file, relative to the workspace root' },
    first_line: {
      default: 1,
      description: 'Counted from 1',
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
    },
    max_lines: {
      default: READ_FILE_MAX_LINES,
      type: 'integer',
      minimum: 1,
      maximum: READ_FILE_MAX_LINES,
    },
  },
  required: ['path'],
  additionalProperties: false,
};

/** Arguments that match the schema. */
type Arguments = {
  readonly path: string;
  readonly first_line: number;
  readonly max_lines: number;
};

/**
 * `read_file` returns lines of a text file unchanged and without line numbers. The result also says what was left out
 * and why, so that a model never mistakes a part for the whole file.
 */
export function createReadFileTool(workspace: Pick<Workspace, 'readText'>): Tool {
  return {
    definition: {
      name: 'read_file',
      description:
        `Reads a text file of the workspace: at most ${READ_FILE_MAX_LINES} lines and ${READ_FILE_MAX_BYTES / 1024} KiB ` +
        'at once. The result says which lines it has and how many the file has; read on with first_line.',
      parameters: PARAMETERS,
    },
    effect: 'read',
    inPlanMode: true,
    resultMode: 'inline',
    inlineCharacters: INLINE_CHARACTERS,
    normalize: withDefaults,
    async execute(args) {
      const { path, first_line: firstLine, max_lines: maxLines } = withDefaults(args) as Arguments;
      if (path.trim() === '') {
        throw new OrionError({
          code: 'INVALID_TOOL_ARGUMENTS',
          message: 'The arguments of read_file do not fit: path: path is required',
          hint: 'Correct the named arguments and call again.',
        });
      }
      const excerpt = await workspace.readText(path, {
        firstLine,
        maxLines,
        maxBytes: READ_FILE_MAX_BYTES,
      });
      return { result: describeExcerpt(excerpt, firstLine, maxLines) };
    },
    summarize: summarizeExcerpt,
  };
}

function withDefaults(args: JsonObject): JsonObject {
  return { first_line: 1, max_lines: READ_FILE_MAX_LINES, ...args };
}

/** The result as the model reads it. */
function describeExcerpt(excerpt: TextExcerpt, firstLine: number, maxLines: number) {
  const { path, content, lastLine, totalLines, totalBytes, truncated } = excerpt;
  return {
    path,
    first_line: excerpt.firstLine,
    last_line: lastLine,
    total_lines: totalLines,
    total_bytes: totalBytes,
    truncated,
    ...defined({ encoding: excerpt.encoding === 'utf-8' ? undefined : excerpt.encoding }),
    ...notesOf(excerpt, firstLine, maxLines),
    content,
  };
}

const LATIN1_NOTE =
  'This is not valid UTF-8. It was read as Latin-1, so characters outside ASCII may be wrong.';

function notesOf(excerpt: TextExcerpt, firstLine: number, maxLines: number) {
  const cut = noteOf(excerpt, firstLine, maxLines);
  if (excerpt.encoding !== 'latin1') return cut;
  return { ...cut, note: cut.note === undefined ? LATIN1_NOTE : `${LATIN1_NOTE} ${cut.note}` };
}

/** Names the limit that cut the text, and how to read the rest. */
function noteOf(
  excerpt: TextExcerpt,
  firstLine: number,
  maxLines: number,
): { readonly limit?: 'max_lines' | 'max_bytes'; readonly note?: string } {
  const { content, lastLine, totalLines, truncated } = excerpt;
  if (content === '' && totalLines > 0 && firstLine > totalLines) {
    return { note: `The file has ${totalLines} lines; there is no line ${firstLine}.` };
  }
  if (!truncated) return {};
  const lines = lastLine - excerpt.firstLine + 1;
  const limit = lines >= maxLines ? 'max_lines' : 'max_bytes';
  const size = limit === 'max_lines' ? `${maxLines} lines` : `${READ_FILE_MAX_BYTES / 1024} KiB`;
  if (content.endsWith('\n') || lastLine >= totalLines) {
    const next = lastLine + 1;
    const readOn = next <= totalLines ? ` Read on with first_line ${next}.` : '';
    return { limit, note: `Cut at ${size}.${readOn}` };
  }
  return {
    limit,
    note: `Cut at ${size}. Line ${lastLine} is longer than that and its rest cannot be read with this tool.`,
  };
}

function summarizeExcerpt(result: JsonValue): string {
  const { path, first_line, last_line, total_lines } = result as ReturnType<typeof describeExcerpt>;
  return `${path}: lines ${first_line}-${last_line} of ${total_lines}`;
}
