import * as languages from '@speed-highlight/core/languages';
import { tokenizeWith, type ShjLanguageData, type ShjToken } from '@speed-highlight/core/tokenize';

import { libraryName } from './languages.ts';

/** Its declarations are stricter than what it takes. */
const LANGUAGES = languages as unknown as Readonly<Record<string, ShjLanguageData>>;

/** Colours of the terminal itself, so that they fit its background. */
const COLORS: Readonly<Partial<Record<ShjToken, string>>> = {
  deleted: '31',
  err: '31',
  kwd: '35',
  num: '33',
  class: '33',
  cmnt: '2',
  insert: '32',
  str: '32',
  bool: '33',
  type: '36',
  section: '36',
  func: '34',
  esc: '36',
};

/** The lines in colours, each ended in its line; as they are where the language is not known. The text stays the same. */
export function highlight(lines: readonly string[], info: string): readonly string[] {
  const name = libraryName(info);
  const language = name === null ? undefined : LANGUAGES[name];
  if (language === undefined) return lines;
  let colored = '';
  tokenizeWith(
    lines.join('\n'),
    language,
    (text, type) => {
      const color = type === undefined ? undefined : COLORS[type];
      colored += color === undefined ? text : paintLines(text, color);
    },
    { languages: LANGUAGES },
  );
  return colored.split('\n');
}

function paintLines(text: string, color: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `\u001B[${color}m${line}\u001B[0m`))
    .join('\n');
}
