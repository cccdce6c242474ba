import { defined } from '@orion/contracts';
import type { JsonObject, JsonValue, Tool, Workspace } from '@orion/contracts';
import { fileMap } from './file-map.ts';
import { counted, FILES_PARAMETERS, refusedNotes } from './file-arguments.ts';
import type { FileArguments } from './file-arguments.ts';

const DEFAULT_LINES = 200;
const MAX_LINES = 1000;
const MAX_BYTES = 64 * 1024;

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    ...FILES_PARAMETERS,
    max_lines: {
      default: DEFAULT_LINES,
      description: 'Where there are more files, folders are shown with their numbers of files',
      type: 'integer',
      minimum: 1,
      maximum: MAX_LINES,
    },
  },
  additionalProperties: false,
};

type Arguments = FileArguments & { readonly max_lines: number };

/** `list_files` shows the files below a folder, without ignored ones. Where not all fit, folders have counts. */
export function createListFilesTool(workspace: Pick<Workspace, 'listFiles'>): Tool {
  return {
    definition: {
      name: 'list_files',
      description:
        'Lists the files below a folder of the workspace, sorted, without what .gitignore files hide. ' +
        'Where there are too many, the deepest folders are shown as one line with their number of files; ' +
        'list such a folder by its path.',
      parameters: PARAMETERS,
    },
    effect: 'read',
    inPlanMode: true,
    normalize: withDefaults,
    async execute(args) {
      const { path, globs, max_lines: maxLines } = withDefaults(args) as Arguments;
      const listed = await workspace.listFiles(Number.MAX_SAFE_INTEGER, { below: path, globs });
      const map = fileMap(listed.files, { maxLines, maxBytes: MAX_BYTES });
      const notes = [
        ...(map.hasFolders ? ['Folders with a count are not listed file by file.'] : []),
        ...(map.leftOut > 0 ? [`${counted(map.leftOut, 'more file')} did not fit.`] : []),
        ...(listed.truncated ? ['There are too many files to look at all of them.'] : []),
        ...refusedNotes(listed.refused),
      ];
      return { result: resultOf(path, listed.files.length, notes, map.lines) };
    },
    summarize: (result: JsonValue) => {
      const { path, total_files: total } = result as ReturnType<typeof resultOf>;
      return `${path}: ${counted(total, 'file')}`;
    },
  };
}

function withDefaults(args: JsonObject): JsonObject {
  return { path: '.', globs: [], max_lines: DEFAULT_LINES, ...args };
}

function resultOf(path: string, total: number, notes: readonly string[], files: readonly string[]) {
  return {
    path,
    total_files: total,
    ...defined({ notes: notes.length === 0 ? undefined : notes }),
    files,
  };
}
