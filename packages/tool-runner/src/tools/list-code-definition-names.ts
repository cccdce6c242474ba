import { defined, systemClock } from '@orion/contracts';
import type { JsonObject, JsonValue, Tool, Workspace } from '@orion/contracts';

import type { FailedOutline, FileOutline, Outline, OutlineLimits } from '../definitions/outline.ts';
import { counted, FILES_PARAMETERS, refusedNotes } from './file-arguments.ts';
import type { FileArguments } from './file-arguments.ts';

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    ...FILES_PARAMETERS,
    recursive: {
      default: false,
      description: 'Of a folder: also the files of the folders below it',
      type: 'boolean',
    },
  },
  additionalProperties: false,
};

type Arguments = FileArguments & { readonly recursive: boolean };

/** Written out, so that the tables of the languages are loaded by the first call and not by every turn. */
const LANGUAGE_NAMES = 'TypeScript, TSX, JavaScript, Python, Go, Rust, Java';

/**
 * `list_code_definition_names` shows what source files define. Files that could not be parsed have an error, and the
 * result says which files were not looked at, so that a model never takes "not listed" for "not defined".
 *
 * @param limits In place of 2 s a file, 20 s and 256 KiB; always by the real time.
 */
export function createCodeDefinitionsTool(
  workspace: Pick<Workspace, 'listFiles' | 'readText'>,
  limits?: Partial<OutlineLimits>,
): Tool {
  return {
    definition: {
      name: 'list_code_definition_names',
      description:
        'Lists what source files define: classes with their methods, functions, types, interfaces, constants … ' +
        'in the order of the file, each as its lines, its kind and its signature, such as "12-40 class: class Parser"; ' +
        'members are indented. For a file, or for the files of a folder without what .gitignore files hide. ' +
        `Languages: ${LANGUAGE_NAMES}.`,
      parameters: PARAMETERS,
    },
    effect: 'read',
    inPlanMode: true,
    resultMode: 'inline',
    normalize: withDefaults,
    async execute(args, { signal }) {
      const { path, globs, recursive } = withDefaults(args) as Arguments;
      const listed = await workspace.listFiles(Number.MAX_SAFE_INTEGER, {
        below: path,
        globs,
        recursive,
      });
      const { OUTLINE_LIMITS, outline, sourcesAmong } = await import('../definitions/outline.ts');
      const sources = sourcesAmong(listed.files);
      const found = await outline(sources, {
        workspace,
        clock: systemClock,
        signal,
        limits: { ...OUTLINE_LIMITS, ...limits },
      });
      const notes = [
        ...stopNotes(found, sources.length),
        ...otherNotes(listed.files.length - sources.length),
        ...(listed.truncated ? ['There are too many files to look at all of them.'] : []),
        ...refusedNotes(listed.refused),
      ];
      const isComplete = found.stopped === null && !listed.truncated;
      return { result: resultOf(path, isComplete, notes, found.files) };
    },
    summarize: (result: JsonValue) => {
      const { path, definitions, files } = result as ReturnType<typeof resultOf>;
      return `${path}: ${counted(definitions, 'definition')} in ${counted(files.length, 'file')}`;
    },
  };
}

function withDefaults(args: JsonObject): JsonObject {
  return { path: '.', globs: [], recursive: false, ...args };
}

function stopNotes({ files, stopped }: Outline, sources: number): readonly string[] {
  if (stopped === null) return [];
  const why = stopped === 'time' ? 'The time was over' : 'There were too many definitions';
  const left = counted(sources - files.length, 'file');
  return [`${why} before ${left} could be looked at: narrow path or globs.`];
}

function otherNotes(others: number): readonly string[] {
  if (others === 0) return [];
  return [`${counted(others, 'file')} in other languages than ${LANGUAGE_NAMES} left out.`];
}

/** The result as the model reads it. */
function resultOf(
  path: string,
  isComplete: boolean,
  notes: readonly string[],
  files: readonly (FileOutline | FailedOutline)[],
) {
  return {
    path,
    definitions: files.reduce(
      (sum, file) => sum + ('definitions' in file ? file.definitions.length + file.more : 0),
      0,
    ),
    complete: isComplete,
    ...defined({ notes: notes.length === 0 ? undefined : notes }),
    files: files.map((file) => ('definitions' in file ? fileOf(file) : file)),
  };
}

function fileOf({ path, encoding, definitions, more, hasErrors }: FileOutline) {
  const notes = [
    ...(more > 0 ? [`${counted(more, 'more definition')} not listed.`] : []),
    ...(hasErrors ? ['Not all of it could be parsed.'] : []),
  ];
  return {
    path,
    ...defined({
      encoding: encoding === 'utf-8' ? undefined : encoding,
      notes: notes.length === 0 ? undefined : notes,
    }),
    definitions,
  };
}
