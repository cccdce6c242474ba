import { DOCUMENTS } from './documents.ts';
import type { Document } from './documents.ts';

/** The message that a model sends when it is asked for a file, in parts: the document, and what it says around it. */
export type FirstMessage = {
  readonly text: string;
  readonly cut: boolean;
  /** What it has before and after the document. */
  readonly before: string;
  readonly after: string;
  /** Whether it wraps the document in a fence. */
  readonly fenced: boolean;
};

/** A manner of the first message. */
export type First = {
  readonly name: string;
  readonly write: (document: Document, endMarker: string) => FirstMessage;
};

/** What comes before the document, and after it: from the end of its last line on. */
type Around = {
  readonly before?: string;
  readonly after?: string;
  readonly fence?: boolean;
  /** The part of the message after which it is cut off. */
  readonly cutAfter?: number;
};

const LEAD = 'Sure! Here is the file:\n\n';
const REMARK = 'I hope this helps you. Let me know if you need anything else!';

/** In the languages that models answer in most. */
const FOREIGN_LEADS: readonly (readonly [name: string, lead: string])[] = [
  ['Spanish', 'Claro, aquí está el archivo:'],
  ['Portuguese', 'Claro, aqui está o arquivo completo:'],
  ['French', 'Bien sûr, voici le fichier :'],
  ['German', 'Gerne! Hier ist die Datei:'],
  ['Italian', 'Certo, ecco il file completo:'],
  ['Russian', 'Конечно, вот файл целиком:'],
  ['Chinese', '好的，以下是完整的文件内容：'],
  ['Japanese', 'はい、以下がファイルの内容です：'],
  ['Arabic', 'بالتأكيد، إليك الملف كاملا:'],
  ['Hindi', 'ज़रूर, यह रही पूरी फ़ाइल:'],
  ['Indonesian', 'Tentu, berikut isi berkasnya:'],
];
const CLOSING_REMARKS: readonly (readonly [name: string, remark: string])[] = [
  ['English', REMARK],
  ['Spanish', 'Espero que esto te ayude.'],
  ['German', 'Ich hoffe, das hilft dir weiter!'],
  ['Chinese', '希望这对你有帮助！'],
];

export const FIRSTS: readonly First[] = [
  first('clean', {}),
  first('own marker', { after: '{end_marker}' }),
  first('blank lines', { before: '\n  \n\n' }),
  first('think', { before: '<think>\nThey want a file.\nI write it.\n</think>\n\n' }),
  first('lead', { before: LEAD }),
  first('lead, no blank line', { before: 'Sure! Here is the file:\n' }),
  first('name', { before: '**{target}**\n\n' }),
  first('name, fence', { before: '`{target}`:\n\n', fence: true }),
  first('two leads', { before: 'Certainly!\n\n**Here is the content of the file:**\n\n' }),
  first('lead, fence', { before: LEAD, fence: true }),
  first('fence', { fence: true }),
  first('fence around DONE', { before: '{fence}', after: 'DONE\n```' }),
  first('fence left open', { before: '{fence}', after: 'DONE' }),
  first('think, lead, fence', {
    before: `<think>\nA short one.\n</think>\n\n${LEAD}`,
    fence: true,
  }),
  first('DONE twice', { after: 'DONE\n\nDONE\n' }),
  first('DONE, chat', { after: `DONE\n${REMARK}` }),
  first('DONE, chat, DONE', { after: `DONE\n\n${REMARK}\n\nDONE` }),
  first('lead, fence, DONE, chat', {
    before: LEAD,
    fence: true,
    after: `DONE\n\n${REMARK}\nThe file has everything that you asked for.`,
  }),
  first('done', { after: 'done' }),
  first('Done!', { after: 'Done!\n' }),
  first('DONE.', { after: 'DONE.' }),
  first('**DONE**', { after: '**DONE**' }),
  first('`DONE`', { after: '\n`DONE`\n' }),
  first('DONE in tags', { after: '<answer>DONE</answer>' }),
  first('end of sequence', { after: 'DONE</s>' }),
  first('fence around a DONE', { after: '```\nDONE\n```' }),
  // From here on the last line of the document has no line ending.
  first('glued DONE', { after: '\bDONE' }),
  first('glued blank DONE', { after: '\b DONE' }),
  first('no DONE', { after: '' }),
  first('no DONE, open line', { after: '\b' }),
  first('lead, no DONE', { before: LEAD, after: '' }),
  first('lead, fence, no DONE', { before: LEAD, fence: true, after: '' }),
  first('lead, open line', { before: LEAD, after: '\b' }),
  first('cut in a line', { cutAfter: 0.6 }),
  first('cut, lead', { before: LEAD, cutAfter: 0.7 }),
  first('cut, fence', { fence: true, cutAfter: 0.7 }),
  first('cut before DONE', { after: '', cutAfter: 1 }),
  first('cut in DONE', { after: 'DO', cutAfter: 1 }),
  {
    name: 'lead alone',
    write: () => ({
      text: `${LEAD}DONE`,
      cut: false,
      before: LEAD,
      after: 'DONE',
      fenced: false,
    }),
  },
  {
    name: 'cut behind a line',
    write: (document) => {
      const lineEnd = document.text.lastIndexOf('\n', document.text.length * 0.7) + 1;
      // Of one line there is no line to be cut behind.
      const end = lineEnd === 0 ? document.text.length - 1 : lineEnd;
      return { text: document.text.slice(0, end), cut: true, before: '', after: '', fenced: false };
    },
  },
  foreign('foreign lead', FOREIGN_LEADS, (lead) => ({ before: `${lead}\n\n` })),
  foreign('foreign lead, fence', FOREIGN_LEADS, (lead) => ({
    before: `${lead}\n\n`,
    fence: true,
  })),
  foreign('closing remark', CLOSING_REMARKS, (remark) => ({ after: `\n${remark}` })),
  foreign('lead, closing remark', CLOSING_REMARKS, (remark) => ({
    before: LEAD,
    after: `\n${remark}`,
  })),
  foreign('DONE, foreign chat', CLOSING_REMARKS, (remark) => ({ after: `DONE\n${remark}` })),
];

/** The next language for the next document. */
function foreign(
  name: string,
  phrases: readonly (readonly [name: string, phrase: string])[],
  around: (phrase: string) => Around,
): First {
  return {
    name,
    write: (document, endMarker) => {
      const number = Math.max(0, DOCUMENTS.indexOf(document));
      const phrase = phrases[number % phrases.length]?.[1] ?? '';
      return first(name, around(phrase)).write(document, endMarker);
    },
  };
}

function first(name: string, around: Around): First {
  return {
    name,
    write: (document, endMarker) => {
      const fence = `\`\`\`${languageOf(document.target)}\n`;
      const before = `${(around.before ?? '').replace('{fence}', fence).replace('{target}', document.target)}${around.fence === true ? fence : ''}`;
      const after = `${around.fence === true ? '```\n' : ''}${(around.after ?? 'DONE').replace('{end_marker}', endMarker)}`;
      const whole = after.startsWith('\b')
        ? `${before}${document.text.trimEnd()}${after.slice(1)}`
        : `${before}${document.text}${after}`;
      const text =
        around.cutAfter === undefined
          ? whole
          : whole.slice(0, Math.floor(whole.length * around.cutAfter));
      return {
        text,
        cut: around.cutAfter !== undefined,
        before,
        // A message that was cut off has not come to its end.
        after: text === whole && after !== 'DO' ? after.replace('\b', '') : '',
        fenced: before.includes(fence),
      };
    },
  };
}

function languageOf(target: string): string {
  const languages: Readonly<Record<string, string>> = {
    md: 'markdown',
    ts: 'typescript',
    py: 'python',
    sh: 'sh',
    yaml: 'yaml',
    ini: 'ini',
  };
  return languages[target.slice(target.lastIndexOf('.') + 1)] ?? '';
}
