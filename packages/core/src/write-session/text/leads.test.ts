import { describe, expect, test } from 'vitest';
import { appendToSummary, createSummary } from './content-summary.ts';
import { findLead } from './leads.ts';
import type { TargetKind } from './target-kind.ts';
import { unitsOf } from './testing/splits.ts';

const KINDS: readonly TargetKind[] = ['code', 'markdown', 'prose'];
const TEXT = 'first line\nsecond line\n';

/** The lead, and what is left behind it. */
function leadOf(text: string, kind: TargetKind = 'prose', target = 'src/notes.x'): unknown {
  let summary = createSummary();
  for (const unit of unitsOf(text)) summary = appendToSummary(summary, unit);
  const lead = findLead(summary, { kind, target });
  expect(findLead(appendToSummary(createSummary(), text), { kind, target })).toEqual(lead);
  if (lead === null) return null;
  return [lead.text, Buffer.from(text).subarray(lead.contentStart).toString()];
}

describe('R271: the head of a message that a server left in the text', () => {
  test.each([
    '<|im_start|>assistant',
    '<|start_header_id|>assistant<|end_header_id|>',
    '<|assistant|>',
    '<start_of_turn>model',
    '<｜Assistant｜>',
    '[/INST]',
    '<answer>',
  ])('%j', (head) => {
    for (const kind of KINDS) {
      expect(leadOf(`${head}\n${TEXT}`, kind)).toEqual([head, TEXT]);
      expect(leadOf(`${head}\n\n${TEXT}`, kind)).toEqual([head, TEXT]);
      expect(leadOf(head, kind)).toBeNull();
    }
  });

  test('a role without tokens, where it is a paragraph of its own', () => {
    expect(leadOf(`assistant\n\n${TEXT}`)).toEqual(['assistant', TEXT]);
    expect(leadOf(`assistant\n${TEXT}`)).toBeNull();
  });

  test.each(['<|im_start|>user', '<answers>', '<s>x</s>', 'model', 'Assistant:', '<html>'])(
    '%j is none',
    (line) => {
      expect(leadOf(`${line}\n\n${TEXT}`)).toBeNull();
    },
  );
});

describe('R271: a lead that opens with a phrase', () => {
  test.each([
    'Sure!',
    'Sure, here it is.',
    'Certainly: as you wish!',
    'Of course!',
    'Absolutely.',
    'Okay, let me write it down.',
    'OK!',
    'Here is the poem:',
    'Here is what you asked for:',
    "Here's the updated script:",
    'Here’s the updated script:',
    'Here are the rules:',
    'Below is the complete source:',
    "I'll write it now.",
    "I'll be there.",
    'I will write it now.',
    'Let me start.',
    'As requested:',
    '**Here is the poem:**',
    '*Sure!*',
    '__Sure!__',
    'sure, here it is:',
    'Claro, aquí lo tienes:',
    '¡Claro!',
    'Por supuesto.',
    'Aquí está el archivo:',
    'A continuación, todo:',
    'Com certeza!',
    'Aqui está o arquivo completo:',
    'Segue o texto:',
    'Bien sûr !',
    'Voici le fichier :',
    'Je vais commencer.',
    "D'accord, voici tout :",
    'Gerne!',
    'Natürlich, hier ist alles:',
    'Hier ist die Datei:',
    'Im Folgenden alles:',
    'Certo!',
    'Ecco il file:',
    'Di seguito tutto:',
    'Конечно!',
    'Вот файл:',
    '当然！',
    '好的，这是文件：',
    '以下是完整的内容：',
    'もちろん！',
    '承知しました。',
    '以下はファイルです：',
    'بالتأكيد!',
    'إليك الملف:',
    'ज़रूर!',
    'यहाँ पूरी फ़ाइल है:',
    'ठीक है।',
    'Tentu!',
    'Berikut adalah isinya:',
    'Saya akan menulisnya.',
  ])('%s', (line) => {
    for (const kind of KINDS) {
      expect([kind, leadOf(`${line}\n\n${TEXT}`, kind)]).toEqual([kind, [line, TEXT]]);
      expect(leadOf(TEXT + line, kind)).toBeNull();
    }
  });
});

describe('R271: a lead that names the file or what it is', () => {
  test.each([
    'The complete file follows:',
    'Updated content of the page:',
    'My code for this:',
    'This is the document:',
    'The new version reads:',
    'All files in one:',
    'The text for notes.x reads:',
    'Now `src/notes.x` reads:',
    'El archivo completo es:',
    'O conteúdo completo é:',
    'Le contenu du fichier :',
    'Die ganze Datei lautet:',
    'Il contenuto completo è:',
    'Содержимое файла полностью:',
    '文件内容：',
    '修改后的代码：',
    'ファイルの中身：',
    'محتوى الملف كامل:',
    'पूरी फ़ाइल की सामग्री:',
    'Isi berkas lengkap:',
  ])('%s', (line) => {
    for (const kind of KINDS)
      expect([kind, leadOf(`${line}\n\n${TEXT}`, kind)]).toEqual([kind, [line, TEXT]]);
  });
});

describe('R271: a line that opens with a phrase, calls what follows a file, and ends in a colon', () => {
  test.each([
    'Here is the file:',
    'Sure! Here is the content of notes.x:',
    '**Here is the complete code:**',
    'Aquí está el archivo:',
    '以下是文件内容：',
  ])('%s', (line) => {
    for (const kind of KINDS) {
      expect([kind, leadOf(`${line}\n${TEXT}`, kind)]).toEqual([kind, [line, TEXT]]);
      // Nothing has come of what it announces.
      for (const blanks of ['', '\n', '\n\n \n'])
        expect([kind, leadOf(line + blanks, kind)]).toEqual([kind, [line, '']]);
    }
  });

  test.each([
    'Here is New York:',
    'Here is the file.',
    'The complete file follows:',
    'Sure!',
    "I'll be there.",
  ])('without one of these it stands apart from the text: %s', (line) => {
    expect(leadOf(`${line}\n${TEXT}`)).toBeNull();
    expect(leadOf(line)).toBeNull();
  });
});

describe('R271: the name of the file alone in a line', () => {
  test.each(['**notes.x**', '`notes.x`', '`src/notes.x`:', '**`notes.x`**', 'notes.x:'])(
    '%s',
    (line) => {
      for (const kind of KINDS)
        expect([kind, leadOf(`${line}\n\n${TEXT}`, kind)]).toEqual([kind, [line, TEXT]]);
    },
  );

  test('as it stands only before a fence', () => {
    const listing = '```\nx\n```\n';
    expect(leadOf(`notes.x\n${listing}`)).toEqual(['notes.x', listing]);
    expect(leadOf(`notes.x\n\n${TEXT}`)).toBeNull();
  });

  test.each([
    ['another one', '**other.x**', 'notes.x'],
    ['a title', 'LICENSE:', 'LICENSE'],
    ['with more', '**notes.x** is here', 'notes.x'],
    ['a heading', '# notes.x', 'notes.x'],
  ])('but not %s', (_, line, target) => {
    expect(leadOf(`${line}\n\n${TEXT}`, 'prose', target)).toBeNull();
  });
});

describe('R271: every word for what follows', () => {
  test.each(
    (
      'file files content contents code codes document documents version versions fichier fichiers contenu contenus ' +
      'archivo archivos fichero ficheros contenido contenidos código códigos documento documentos versión versiones ' +
      'arquivo arquivos ficheiro ficheiros conteúdo conteúdos versão versões ' +
      'datei dateien inhalt inhalte dokument dokumente versionen contenuto codice versione ' +
      'файл файлами содержимое содержимого содержимым код кода кодом документ документами версия версиями ' +
      'ملف محتوى كود مستند إصدار الملف المحتوى الكود المستند الإصدار ' +
      'फ़ाइल फाइल सामग्री कोड दस्तावेज़ दस्तावेज संस्करण berkas isi kode dokumen versi'
    ).split(' '),
  )('%s', (word) => {
    const line = `12 34 ${word}:`;
    expect(leadOf(`${line}\n\n${TEXT}`)).toEqual([line, TEXT]);
    const capitals = `12 34 ${word.toUpperCase().normalize('NFD')}:`;
    expect(leadOf(`${capitals}\n\n${TEXT}`)).toEqual([capitals, TEXT]);
    for (const other of [`12 ${word}:`, `12 34 x${word}:`, `12 34 ${word}xxxxx:`, `12 34 ${word}.`])
      expect([other, leadOf(`${other}\n\n${TEXT}`)]).toEqual([other, null]);
  });

  test.each('文件 内容 代码 文档 版本 檔案 ファイル コード 文書 バージョン'.split(' '))(
    '%s',
    (word) => {
      for (const line of [`あ漢${word}:`, `x あ漢${word}x：`])
        expect(leadOf(`${line}\n\n${TEXT}`)).toEqual([line, TEXT]);
      if ([...word].length > 2) return;
      for (const other of [`あ${word}:`, `x あ${word}:`])
        expect([other, leadOf(`${other}\n\n${TEXT}`)]).toEqual([other, null]);
    },
  );

  test.each([':', '.', '!', '：', '。', '！', '।'])('a phrase ends in %s', (stop) => {
    expect(leadOf(`Sure thing${stop}\n\n${TEXT}`)).toEqual([`Sure thing${stop}`, TEXT]);
    expect(leadOf(`Sure thing${stop} or\n\n${TEXT}`)).toBeNull();
  });
});

describe('R271: the name of the file', () => {
  test.each<[string, string, boolean]>([
    ['src/notes.x', 'It is notes.x:', true],
    ['src\\notes.x', 'It is notes.x:', true],
    ['notes.x', 'It is notes.x:', true],
    ['notes.x', 'notes.x it is:', true],
    ['notes.x', 'It is my-notes.x:', true],
    ['notes.x', 'It is _notes.x:', false],
    ['notes.x', 'It is notes.x2:', false],
    ['notes.x', 'It is 2notes.x or notes.x so:', true],
    ['aa', 'It is aaa aa:', true],
    ['aa', 'It is aaa:', false],
    ['src/notes.x', 'It is src:', false],
    ['src/', 'It is like this:', false],
    ['', 'It is like this:', false],
    ['notes.x', 'See notes.x:', false],
  ])('%j in %j: %j', (path, line, expected) => {
    expect(leadOf(`${line}\n\n${TEXT}`, 'prose', path)).toEqual(expected ? [line, TEXT] : null);
  });
});

describe('R271: what is never asked about', () => {
  test.each([
    'Usage:',
    'Dear Sir or Madam:',
    'version: 2',
    'all:',
    'def main():',
    'class A:',
    '[Verse 1:]',
    'JOHN:',
    'Subject: x',
    '# Title',
    '---',
    '#!/bin/sh',
    '{',
    '<!doctype html>',
    'MIT License',
    'a,b',
    'TODO:',
    'Abstract:',
    '-- Here is:',
    'Here is New York',
    'Surely you jest.',
    'Heresy: a history.',
    'Document version:',
    '文件：',
    'The story begins here:',
    'The profile of a hero:',
    'Is xnotes.x2 there now:',
    'first line',
  ])('%s', (line) => {
    for (const kind of KINDS) {
      expect([kind, leadOf(`${line}\n\n${TEXT}`, kind)]).toEqual([kind, null]);
      expect([kind, leadOf(`${line}\n${TEXT}`, kind)]).toEqual([kind, null]);
    }
  });

  test.each([
    ['a sentence within a paragraph', 'Of course, nobody believed him.\nHe left.\n'],
    ['a line without text behind it', 'Here it is:\n'],
    ['a line with blanks behind it', 'Here it is:\n\n \n'],
    ['an indented line', '  Here is the file:\n\ntext\n'],
    ['a line of more than 300 characters', `Here is ${'a'.repeat(292)}:\n\ntext\n`],
    ['a line in the middle', 'text\n\nHere is the file:\n\ntext\n'],
    ['a third line', 'Yes.\n\nFine.\n\nHere is the file:\n\ntext\n'],
    ['a heading before it', '# Title\n\nHere is the file:\n\ntext\n'],
    ['the second of two lines', 'Yes.\nHere is the file:\n\ntext\n'],
    ['a line of code before it', 'const x = 1;\n\nHere is the file:\n\ntext\n'],
    ['a listing', '```\nHere is the file:\n\ntext\n'],
  ])('%s', (_name, text) => {
    for (const kind of KINDS) expect([kind, leadOf(text, kind)]).toEqual([kind, null]);
  });

  test.each([
    '# Here is the file:',
    '// Here is the file:',
    '/* Here is the file:',
    '-- Here is the file:',
    '; Here is the file:',
    '% Here is the file:',
    '<!-- Here is the file:',
    '"Here is the file:',
    "'Here is the file:",
    'REM Here is the file:',
    'Here is the file (whole):',
    'Here is {the file}:',
    'Here is file[0]:',
    'Here is a <file>:',
    'Here is a = file:',
    'Here is; the file:',
    'Here is a | file:',
    'Here is a & file:',
    'Here is a $file:',
    'Here is a @file:',
    'Here is a \\file:',
  ])('on code: %s', (line) => {
    expect(leadOf(`${line}\n\n${TEXT}`, 'code')).toBeNull();
  });

  test('on code such characters within back-ticks do no harm', () => {
    const line = 'Here is `main()` of `{a}`:';
    expect(leadOf(`${line}\n\n${TEXT}`, 'code')).toEqual([line, TEXT]);
    expect(leadOf(`Here is the file (whole):\n\n${TEXT}`, 'prose')).toEqual([
      'Here is the file (whole):',
      TEXT,
    ]);
  });
});

describe('R271: where a lead ends', () => {
  const LEAD = 'Here is the file:';

  test('of 300 characters is one', () => {
    const line = `Here is ${'a'.repeat(291)}:`;
    expect(leadOf(`${line}\n\n${TEXT}`)).toEqual([line, TEXT]);
  });

  test('behind the blank lines after it, before the indentation', () => {
    expect(leadOf(`\n${LEAD}  \r\n\r\n \r\n  é\r\n`)).toEqual([LEAD, '  é\r\n']);
    expect(leadOf(`${LEAD}\n\ntext`)).toEqual([LEAD, 'text']);
  });

  test('before a fence', () => {
    expect(leadOf(`${LEAD}\n\`\`\`\ntext\n`)).toEqual([LEAD, '```\ntext\n']);
  });

  test('behind a second paragraph that announces the file', () => {
    expect(leadOf(`Great question!\n\n${LEAD}\n\n${TEXT}`)).toEqual([
      `Great question!\n${LEAD}`,
      TEXT,
    ]);
    expect(leadOf(`Sure thing!\n\n${LEAD}\n\`\`\`\n${TEXT}`)).toEqual([
      `Sure thing!\n${LEAD}`,
      `\`\`\`\n${TEXT}`,
    ]);
    expect(leadOf(`sure:\n\n${LEAD}\n\n${TEXT}`)).toEqual([`sure:\n${LEAD}`, TEXT]);
  });

  test('behind a second paragraph only if a fence shows that it is none of the text', () => {
    expect(leadOf('Sure!\n\nIt has two parts.\n\nOne.\n')).toEqual([
      'Sure!',
      'It has two parts.\n\nOne.\n',
    ]);
    expect(leadOf('Sure!\n\nIt has two parts.\n\n```\nOne.\n')).toEqual([
      'Sure!\nIt has two parts.',
      '```\nOne.\n',
    ]);
    expect(leadOf('Sure!\n\nit has two parts\n\n```\nOne.\n')).toEqual([
      'Sure!',
      'it has two parts\n\n```\nOne.\n',
    ]);
    expect(leadOf(`${LEAD}\n\n\`\`\`\n\ntext\n`)).toEqual([LEAD, '```\n\ntext\n']);
    expect(leadOf(`${LEAD}\n\nYes.\nNo.\n`)).toEqual([LEAD, 'Yes.\nNo.\n']);
  });
});
