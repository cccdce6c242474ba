import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { isOmission } from './omission-line.ts';

describe('R249: lines that stand for text that was left out', () => {
  it.each([
    '// ... rest of the code unchanged',
    '// ...rest of the file remains the same...',
    '  // … rest of the component stays the same …',
    '# ... existing code ...',
    '# ... (rest of the implementation) ...',
    '/* unchanged */',
    '/* ... existing styles ... */',
    '{/* ... rest of the JSX unchanged ... */}',
    '{/* existing content */}',
    '<!-- rest of file -->',
    '<!-- ... existing markup ... -->',
    '-- ... remaining columns unchanged',
    '; ... rest of the config',
    '% ... remaining definitions unchanged ...',
    "' ... other methods unchanged",
    'REM ... rest of the script',
    '(* ... rest unchanged ... *)',
    '{- ... existing code ... -}',
    '{# ... rest of the template ... #}',
    '<%# ... existing content ... %>',
    '@* ... rest of the page ... *@',
    ' * ... remaining methods unchanged ...',
    '// rest of the code remains unchanged',
    '// Rest of your existing code here',
    '// The rest of the function is unchanged.',
    '// existing code here',
    '// Keep existing imports unchanged',
    '// other methods remain the same',
    '// implementation omitted for brevity',
    '# no changes below',
    '// remaining code...',
    '// [rest of the file unchanged]...',
    '[... rest of the document unchanged ...]',
    '(... remaining sections omitted for brevity ...)',
    '... (rest of the file unchanged)',
    '... existing content ...',
    '// ... restlicher Code unverändert',
    '# ... bestehender Code ...',
    '// ... reste du code inchangé',
    '// ... resto del código sin cambios',
    '// ... restante do código',
    '// ... resto del codice invariato',
    '// ... остальной код без изменений',
    '// ... 其余代码保持不变',
    '// 省略其余代码',
    '# ... 既存のコード ...',
    '// ... 残りのコード',
    '// 기존 코드 ...',
  ])('%s', (line) => {
    expect(isOmission(line)).toBe(true);
    expect(isOmission(`\t${line} \r`)).toBe(true);
  });

  it.each([
    '',
    '...',
    '// ...',
    '# ...',
    'const rest = value; // unchanged',
    '...rest,',
    '...existing.options,',
    '// ...rest,',
    '  //   ...existing,',
    '// Sends the rest of the arguments to the function.',
    '// The existing file wins over the new one',
    '// Valid text is unchanged by this.',
    '// Keeps the same order as before the call, since others rely on it...',
    '# If the rest of the file is empty, stop here',
    ' * unchanged.',
    ' * the rest of the file',
    '#include <existing/code.h>',
    '#!/bin/sh ... rest',
    '- ... and the rest of the story, unchanged by time, was told in the hall that evening',
    'The rest of the code is unchanged.',
    'Loading ... please wait',
    '// TODO: handle other cases',
    '<Rest of="list" />',
    '--existing-code',
    '"... rest of the code",',
    'x'.repeat(500),
  ])('not %j', (line) => {
    expect(isOmission(line)).toBe(false);
  });
});

/** Divided at `·`, to stand in a table. */
function each(text: string): readonly string[] {
  return text.split(' · ');
}

const THINGS = each(
  'code · content · contents · file · import · imports · method · methods · function · functions · class · ' +
    'classes · component · components · implementation · logic · script · module · document · style · styles · ' +
    'rule · rules · test · tests · case · cases · field · fields · properties · props · route · routes · handler · ' +
    'handlers · line · lines · section · sections · config · configuration · definition · definitions · html · css · ' +
    'markup · body · text',
);
const SAME = each(
  'unchanged · the same · same · as is · as before · as above · as in the original · omitted · here · below · ' +
    'follows · goes here · untouched',
);
const BE = each(
  'is · are · was · were · remain · remains · stay · stays · continue · continues · kept · left · goes',
);

/** Lines that are an omission with the ellipsis alone, and are none where they run on. */
const BEHIND_DOTS: readonly string[] = [
  ...each(
    'the rest · remaining · the remainder · existing · unchanged · omitted · elided · for brevity · snip · ' +
      'snipped · truncated · as before · remains the same · remain the same · stays the same · stay the same · ' +
      'same as before · same as above · same as the original · no change · no changes',
  ),
  ...each('previous · original · other · more').map((which) => `${which} functions`),
  ...each('keep code · keep the code · keep your code · keep all code'),
  ...each('code · implementation · content · logic').flatMap((what) => [
    `${what} here`,
    `${what} goes here`,
  ]),
];

const BEFORE_DOTS: readonly string[] = [
  ...each('rest of it · the rest of it · your rest of it · all rest of it · remainder of it'),
  ...each('remaining · existing · previous · other').map((which) => `${which} functions`),
  ...each('same as before · unchanged'),
  ...each('keep existing · keep the existing · keep rest · keep remaining · keep the remaining'),
];

const WHOLE: readonly string[] = [
  ...each('rest of code · the remainder of the code · all rest of this code · rest of your code'),
  ...each('rest of the very long code · rest of the long code here · the rest of code is below'),
  ...each('rest · the rest · remainder · everything else').flatMap((what) =>
    each('unchanged · the same · as before · as is · omitted · untouched').flatMap((same) => [
      `${what} ${same}`,
      `${what} is ${same}`,
    ]),
  ),
  ...BE.map((be) => `everything else ${be} as is`),
  ...each('existing · previous · original · remaining').flatMap((which) => [
    `${which} code omitted`,
    `keep the ${which} long code as is`,
    `keep your ${which} code is here`,
    `all ${which} code below`,
  ]),
  ...each('code · content · contents · implementation · logic').flatMap((what) => [
    `existing ${what}`,
    `remaining ${what}`,
    `your existing ${what}`,
    `keep the existing ${what}`,
    `keep all existing ${what}`,
    `keep your existing ${what}`,
  ]),
  ...each('unchanged · the same · as before · omitted · here').map(
    (same) => `other code is ${same}`,
  ),
  'other private code here',
  ...each('omitted · truncated · elided · shortened · abbreviated · removed · left out').flatMap(
    (gone) => each('brevity · clarity · simplicity').map((why) => `${gone} for ${why}`),
  ),
  'all four words are omitted for brevity',
  'code is unchanged',
  'unchanged code',
  ...each('no change · no changes · no changes here · no change below · no changes above'),
  ...each('no changes needed · same as before'),
  ...THINGS.flatMap((thing) => [`the rest of the ${thing}`, `${thing} unchanged`]),
  ...SAME.map((same) => `existing tests ${same}`),
];

/** Each pattern of another language, with every choice in it. */
const OTHER_LANGUAGES: readonly string[] = each(
  'rest des codes · rest der datei · restlicher code · rest der funktion · rest der klasse · rest des inhalts · ' +
    'rest unverändert · bleibt unverändert · code bleibt unverändert · datei unverändert · unverändert · ' +
    'bestehender code · vorhandener code · bisheriger code · ' +
    'reste du code · reste du fichier · reste du contenu · code existant · code inchangé · ' +
    'resto de código · resto del código · resto del archivo · resto del fichero · resto del contenido · ' +
    'código existente · código anterior · código sin cambios · sin cambios · ' +
    'resto do código · restante do código · resto do arquivo · resto do ficheiro · ' +
    'código inalterado · código restante · inalterado · ' +
    'resto del codice · resto del file · resto del contenuto · codice esistente · codice invariato · ' +
    'codice rimanente · invariato · ' +
    'остальной код · существующий код · предыдущий код · код здесь без изменений · остальное без изменений · ' +
    'остальная часть без изменений · без изменений · ' +
    '其余代码 · 其他内容 · 其它部分 · 剩余方法 · 余下函数 · 原有逻辑 · 现有的代码 · 之前的代码 · 代码保持不变 · 内容没有变化 · ' +
    '部分不变 · 其余不变 · 保持不变 · 省略 · 略去 · 省略其余 · 省略其他 · 略去代码 · 略去部分 · ' +
    '既存のコード · 残りの内容 · 以前の部分 · 従来のメソッド · 他の関数 · 他の処理 · 変更なし · 以下省略 · 以降省略 · 中省略 · ' +
    '기존 코드 · 나머지 내용 · 이전 부분 · 기존메서드 · 기존 함수 · 변경 없음 · 변경없음 · 변경 사항 없음 · 생략',
);

describe('R249: every phrase', () => {
  it.each(BEHIND_DOTS)('… %s', (phrase) => {
    expect(isOmission(`// ... ${phrase}`)).toBe(true);
    expect(isOmission(`... ${phrase.toUpperCase()}`)).toBe(true);
    expect(isOmission(`// ... x${phrase}x`)).toBe(false);
    expect(isOmission(`// Look for ... ${phrase}`)).toBe(false);
  });

  it.each(BEFORE_DOTS)('%s …', (phrase) => {
    expect(isOmission(`// ${phrase} ...`)).toBe(true);
    expect(isOmission(`// (${phrase.toUpperCase()}…)`)).toBe(true);
    expect(isOmission(`// Look at ${phrase} ...`)).toBe(false);
    expect(isOmission(`// ${phrase} ... or do it now`)).toBe(false);
  });

  it.each(WHOLE)('%s', (phrase) => {
    expect(isOmission(`// ${phrase}`)).toBe(true);
    expect(isOmission(`// [${phrase.toUpperCase()}].`)).toBe(true);
    expect(isOmission(`// ${phrase} today`)).toBe(false);
    expect(isOmission(phrase)).toBe(false);
  });

  it.each(THINGS)('of what is missing: %s', (thing) => {
    for (const which of ['previous', 'original', 'other', 'more', 'keep the'])
      expect([which, isOmission(`// ... ${which} ${thing}`)]).toEqual([which, true]);
    for (const which of ['remaining', 'existing', 'previous', 'other'])
      expect([which, isOmission(`// ${which} ${thing} ...`)]).toEqual([which, true]);
  });

  it.each(OTHER_LANGUAGES)('of another language: %s', (phrase) => {
    expect(isOmission(`// ... ${phrase}`)).toBe(true);
    expect(isOmission(`// ${phrase}`)).toBe(true);
    expect(isOmission(`// ${phrase}...`)).toBe(true);
    expect(isOmission(phrase)).toBe(false);
  });

  it.each(each('unverändert · sin cambios · inalterado · invariato · без изменений · 変更なし'))(
    'only at the start: %s',
    (phrase) => {
      expect(isOmission(`// xy ${phrase}`)).toBe(false);
    },
  );

  it.each(each('保持不变 · 没有变化 · 不变 · 省略 · 略去 · 以下省略 · 생략'))(
    'only at the end: %s',
    (phrase) => {
      expect(isOmission(`// ${phrase} xy`)).toBe(false);
    },
  );
});

describe('R249: every form of a comment', () => {
  it.each([
    ['{ /* ', ' */ }'],
    ['{/** ', ' **/}'],
    ['/* ', ' */'],
    ['/** ', ''],
    ['<!-- ', ' -->'],
    ['<!--- ', ' --->'],
    ['{{!-- ', ' --}}'],
    ['{# ', ' #}'],
    ['<%# ', ' %>'],
    ['<%-- ', ' --%>'],
    ['(* ', ' *)'],
    ['{- ', ' -}'],
    ['@* ', ' *@'],
    ['// ', ''],
    ['///! ', ''],
    ['## ', ''],
    ['--- ', ''],
    [';; ', ''],
    ['%% ', ''],
    ["' ", ''],
    ['REM ', ''],
    ['rem ', ''],
    ['dnl ', ''],
  ])('%s…%s', (open, close) => {
    expect(isOmission(`${open}existing code${close}`)).toBe(true);
    expect(isOmission(`x ${open}existing code${close}`)).toBe(false);
    expect(isOmission(`${open}existing code${close} x`)).toBe(false);
    expect(isOmission(`${open}our code${close}`)).toBe(false);
  });

  it.each([
    "' existing code'",
    '#!existing code',
    '#existing code',
    '-->existing code',
    'REMexisting code',
    'x * ... existing code',
    'x [... existing code]',
    'existing code // ... ',
  ])('not %s', (line) => {
    expect(isOmission(line)).toBe(false);
  });

  it.each([
    '* ... existing code',
    '** ... existing code',
    '- ... existing code',
    '_... existing code_',
    '[... existing code]',
    '<... existing code>',
    '(... existing code)',
    '(... existing) code',
    '.... existing code',
    '……\texisting code',
  ])('without one: %s', (line) => {
    expect(isOmission(line)).toBe(true);
    expect(isOmission(`x ${line}`)).toBe(false);
  });
});

describe('R249: how long', () => {
  it.each([
    ['a line of 3 characters', '#省略', false],
    ['a line of 4', '//省略', true],
    ['a line of 160', `// ... rest ${'x'.repeat(148)}`, true],
    ['a line of 161', `// ... rest ${'x'.repeat(149)}`, false],
    ['12 words behind dots', `// ... rest${' x'.repeat(11)}`, true],
    ['13 words behind dots', `// ... rest${' x'.repeat(12)}`, false],
    ['12 words behind dots of no comment', `... rest${' x'.repeat(11)}`, true],
    ['13 words behind dots of no comment', `... rest${' x'.repeat(12)}`, false],
    ['12 words before dots', `// rest of${' x'.repeat(10)}...`, true],
    ['13 words before dots', `// rest of${' x'.repeat(11)}...`, false],
    ['3 words right behind dots', '// ...rest of it', true],
    ['2 words right behind dots', '// ...rest it', false],
    ['2 words of another language right behind dots', '// ...bestehender Code', true],
    ['the same of no comment', '...bestehender Code', false],
    ['32 characters of another language', `// 基其余代码${'基'.repeat(27)}`, true],
    ['33 characters of another language', `// 基其余代码${'基'.repeat(28)}`, false],
    ['33 of them before dots', `// 基其余代码${'基'.repeat(28)}...`, true],
    ['12 words of another language behind dots', `// ... 其余代码${' x'.repeat(11)}`, true],
    ['13 words of another language behind dots', `// ... 其余代码${' x'.repeat(12)}`, false],
  ])('%s', (_, line, expected) => {
    expect(isOmission(line)).toBe(expected);
  });
});

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const SOURCE = /\.(?:[cm]?[jt]sx?|css|html|md|json|ya?ml|py|sh)$/u;

describe('R249: real files', () => {
  it(
    'of this repository and of what it depends on have next to none',
    { tags: ['long'] },
    async ({ annotate }) => {
      const files = [
        ...sourcesBelow(join(ROOT, 'packages'), 600),
        ...sourcesBelow(join(ROOT, 'docs'), 500),
        ...sourcesBelow(join(ROOT, 'node_modules', '.pnpm'), 600),
      ];
      let lines = 0;
      const found: string[] = [];
      for (const file of files) {
        for (const line of readFileSync(file, 'utf8').split('\n')) {
          lines += 1;
          if (isOmission(line)) found.push(`${file.slice(ROOT.length)}: ${line.trim()}`);
        }
      }
      await annotate(
        `${found.length} of ${lines} lines in ${files.length} files are taken for one`,
      );
      expect(lines).toBeGreaterThan(100_000);
      expect(found.length, found.join('\n')).toBeLessThanOrEqual(lines / 100_000);
    },
  );
});

function sourcesBelow(folder: string, most: number): readonly string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && entry.name !== '.git') folders.push(path);
      else if (entry.isFile() && SOURCE.test(entry.name)) files.push(path);
      if (files.length >= most) return files;
    }
  }
  return files;
}
