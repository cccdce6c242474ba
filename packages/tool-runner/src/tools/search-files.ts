import { defined, quotedName } from '@orion/contracts';
import type {
  JsonObject,
  JsonValue,
  SearchedFile,
  SearchedLine,
  SearchReport,
  Tool,
  Workspace,
} from '@orion/contracts';
import { counted, FILES_PARAMETERS, refusedNotes } from './file-arguments.ts';
import type { FileArguments } from './file-arguments.ts';

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    pattern: {
      description: 'What a line has to contain',
      type: 'string',
      minLength: 1,
      maxLength: 1000,
    },
    regex: {
      default: false,
      description:
        'The pattern is a regular expression in the syntax of JavaScript, not literal text',
      type: 'boolean',
    },
    ...FILES_PARAMETERS,
    ignore_case: { default: false, type: 'boolean' },
    context_lines: {
      default: 0,
      description: 'Lines shown before and after each match',
      type: 'integer',
      minimum: 0,
      maximum: 10,
    },
  },
  required: ['pattern'],
  additionalProperties: false,
};

type Arguments = FileArguments & {
  readonly pattern: string;
  readonly regex: boolean;
  readonly ignore_case: boolean;
  readonly context_lines: number;
};

/**
 * `search_files` finds lines in the files of the workspace. The result says which files were left out and whether the
 * search ended early, so that a model never takes "not found here" for "nowhere".
 */
export function createSearchFilesTool(workspace: Pick<Workspace, 'searchFiles'>): Tool {
  return {
    definition: {
      name: 'search_files',
      description:
        'Searches the text files of the workspace for lines with a literal text or a regular expression, without ' +
        'what .gitignore files hide. Each line begins with its number, then ":" if it matches or "-" if it is context. ' +
        'At most 200 matching lines; the result says what was left out.',
      parameters: PARAMETERS,
    },
    effect: 'read',
    inPlanMode: true,
    normalize: withDefaults,
    async execute(args, { signal }) {
      const given = withDefaults(args) as Arguments;
      const report = await workspace.searchFiles({
        below: given.path,
        globs: given.globs,
        pattern: given.pattern,
        syntax: given.regex ? 'regex' : 'literal',
        ignoreCase: given.ignore_case,
        contextLines: given.context_lines,
        signal,
      });
      return { result: resultOf(report, given) };
    },
    summarize: (result: JsonValue) => {
      const { matches, files } = result as ReturnType<typeof resultOf>;
      return `${counted(matches, 'matching line')} in ${counted(files.length, 'file')}`;
    },
  };
}

function withDefaults(args: JsonObject): JsonObject {
  return { path: '.', globs: [], regex: false, ignore_case: false, context_lines: 0, ...args };
}

/** The result as the model reads it. */
function resultOf(report: SearchReport, given: Arguments) {
  const notes = [...stopNotes(report), ...leftOutNotes(report), ...refusedNotes(report.refused)];
  if (!given.regex && report.matches === 0 && /[\\^$*+?()[\]{}|]/u.test(given.pattern)) {
    notes.push('The pattern was searched as literal text. For an expression, set regex to true.');
  }
  return {
    matches: report.matches,
    searched_files: report.searched,
    complete: report.stopped === null,
    ...defined({ notes: notes.length === 0 ? undefined : notes }),
    files: report.files.map(fileOf),
  };
}

function stopNotes({ stopped, matches }: SearchReport): readonly string[] {
  if (stopped === null) return [];
  const place = stopped.at === null ? '' : ` in ${quotedName(stopped.at)}`;
  const narrower = 'Files after it were not searched: narrow path, globs or the pattern.';
  switch (stopped.reason) {
    case 'matches':
      return [`Stopped at ${matches} matching lines${place}. ${narrower}`];
    case 'time':
      return [`Stopped after 10 s${place}. ${narrower}`];
    case 'memory':
      return [`The search ran out of memory${place}. ${narrower}`];
    case 'files':
      return ['There are too many files to search all of them: narrow path.'];
    default:
      return stopped.reason satisfies never;
  }
}

function leftOutNotes({ leftOut }: SearchReport): readonly string[] {
  const { binary, tooLarge, unreadable, longLines } = leftOut;
  const reasons: readonly (readonly [number, string])[] = [
    [binary, 'not searched: binary'],
    [tooLarge, 'not searched: larger than 10 MiB'],
    [unreadable, 'not searched: could not be read'],
    [longLines, 'with lines of which only the first 64 KiB were searched'],
  ];
  return reasons
    .filter(([count]) => count > 0)
    .map(([count, why]) => `${counted(count, 'file')} ${why}.`);
}

function fileOf({ path, encoding, lines }: SearchedFile) {
  return {
    path,
    ...defined({ encoding: encoding === 'utf-8' ? undefined : encoding }),
    lines: lines.map(lineOf),
  };
}

function lineOf({ line, text, isMatch }: SearchedLine): string {
  return `${line}${isMatch ? ':' : '-'}${text}`;
}
