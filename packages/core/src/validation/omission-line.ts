/**
 * Whether a line is a placeholder for omitted text, such as `// ... rest of the code unchanged`.
 *
 * Only a line that consists of a comment, or of words in brackets or after an ellipsis, can be one. It must contain an
 * ellipsis with a word for what is missing, or consist of a phrase that says nothing else: real comments often mention
 * the rest, existing things, or what is unchanged.
 */
export function isOmission(line: string): boolean {
  const text = line.trim();
  if (text.length < SHORTEST || text.length > LONGEST_OMISSION) return false;
  const comment = commentBody(text);
  if (comment !== null) return saysOmitted(comment);
  // A comment of several lines can break a sentence anywhere, so a phrase on a line of its own proves nothing there.
  const dotted = DOTS_BEFORE.exec(text);
  // Without a blank after the dots it is spread syntax.
  return dotted !== null && /\s$/u.test(dotted[0]) && saysWhatIsMissing(text);
}

export const LONGEST_OMISSION = 160;
const SHORTEST = 4;

const COMMENTS: readonly RegExp[] = [
  /^\{\s*\/\*+(.*?)\*+\/\s*\}$/su,
  /^\/\*+(.*?)(?:\*+\/)?$/su,
  /^<!--+(.*?)--+>$/su,
  /^\{\{!--(.*?)--\}\}$/su,
  /^\{#(.*?)#\}$/su,
  /^<%(?:#|--)(.*?)(?:--)?%>$/su,
  /^\(\*(.*?)\*\)$/su,
  /^\{-(.*?)-\}$/su,
  /^@\*(.*?)\*@$/su,
  /^\/\/+!?(.*)/su,
  /^#+(?![!\w])(.*)/su,
  /^--+(?!>)(.*)/su,
  /^;+(.*)/su,
  /^%+(.*)/su,
  /^'([^']*)$/su,
  /^(?:REM|rem|dnl)\s(.*)/su,
];

function commentBody(text: string): string | null {
  for (const pattern of COMMENTS) {
    const body = pattern.exec(text)?.[1];
    if (body !== undefined) return body.trim();
  }
  return null;
}

const DOTS_BEFORE = /^[\s([{<*_-]*(?:\.{3,}|…+)[ \t]*/u;
const DOTS_BEHIND = /[ \t]*(?:\.{3,}|…+)[\s)\]}>*_.-]*$/u;

function saysOmitted(body: string): boolean {
  const before = DOTS_BEFORE.exec(body);
  if (before !== null) return isSeparate(before[0], body) && saysWhatIsMissing(body);
  const isDotted = DOTS_BEHIND.test(body);
  const words = plain(body);
  if (isDotted && wordsOf(words) <= MOST_WORDS && MISSING_FIRST.test(words)) return true;
  if (WHOLE_PHRASE.test(words)) return true;
  return (isDotted || words.length <= SHORT_PHRASE) && OTHER_LANGUAGES.test(words);
}

/** Dots directly before a word are commented-out spread syntax, unless a sentence follows. */
function isSeparate(dots: string, body: string): boolean {
  const words = plain(body);
  return /\s$/u.test(dots) || wordsOf(words) >= FEWEST_AFTER_SPREAD || OTHER_LANGUAGES.test(words);
}

function saysWhatIsMissing(body: string): boolean {
  const words = plain(body);
  return wordsOf(words) <= MOST_WORDS && (MISSING.test(words) || OTHER_LANGUAGES.test(words));
}

const MOST_WORDS = 12;
const FEWEST_AFTER_SPREAD = 3;
/** In characters; a sentence that only mentions such words is longer. */
const SHORT_PHRASE = 32;

/** In lower case, without surrounding ellipses, brackets and full stops. */
function plain(body: string): string {
  return body
    .replace(/^[\s.…([{<*_:-]+/u, '')
    .replace(/[\s.…)\]}>*_:!-]+$/u, '')
    .toLowerCase();
}

function wordsOf(words: string): number {
  return words.split(/\s+/u).length;
}

const THINGS =
  '(?:code|content|contents|file|imports?|methods?|functions?|class|classes|component|components|implementation|' +
  'logic|script|module|document|styles?|rules?|tests?|cases?|fields?|properties|props|routes?|handlers?|lines?|' +
  'section|sections|config|configuration|definitions?|html|css|markup|body|text)';
const SAME =
  '(?:unchanged|the same|same|as is|as before|as above|as in the original|omitted|here|below|follows|goes here|untouched)';
const BE = '(?:(?:is|are|was|were|remains?|remain|stays?|stay|continues?|kept|left|goes)\\s+)?';

/** Anywhere after an ellipsis. */
const MISSING = new RegExp(
  `\\b(?:rest|remaining|remainder|existing|unchanged|omitted|elided|brevity|snip|snipped|truncated|as before|` +
    `(?:remains?|stays?) the same|same as (?:before|above|the original)|(?:previous|original|other|more) ${THINGS}|` +
    `keep (?:the |your |all )?${THINGS}|(?:code|implementation|content|logic) (?:goes )?here|no changes?)\\b`,
  'u',
);

/** At the start of text that ends in an ellipsis. */
const MISSING_FIRST = new RegExp(
  `^(?:the |your |all )?(?:rest of|remaining ${THINGS}|remainder of|existing ${THINGS}|previous ${THINGS}|` +
    `other ${THINGS}|same as before|unchanged|keep (?:the )?(?:existing|rest|remaining))\\b`,
  'u',
);

/** The whole text of a comment. */
const WHOLE_PHRASE = new RegExp(
  `^(?:${[
    `(?:the |all )?(?:rest|remainder) of (?:the |this |your )?(?:\\S+ ){0,2}?${THINGS}(?: ${BE}${SAME})?`,
    `(?:the )?(?:rest|remainder|everything else) ${BE}(?:unchanged|the same|as before|as is|omitted|untouched)`,
    `(?:keep )?(?:the |your |all )?(?:existing|previous|original|remaining) (?:\\S+ )?${THINGS} ${BE}${SAME}`,
    `(?:your |keep (?:the |your |all )?)?(?:existing|remaining) (?:code|content|contents|implementation|logic)`,
    `other (?:\\S+ )?${THINGS} ${BE}(?:unchanged|the same|as before|omitted|here)`,
    `(?:\\S+ ){0,4}(?:omitted|truncated|elided|shortened|abbreviated|removed|left out) for (?:brevity|clarity|simplicity)`,
    `(?:${THINGS} ${BE})?unchanged(?: ${THINGS})?`,
    `no changes?(?: here| below| above| needed)?`,
    `same as before`,
  ].join('|')})$`,
  'u',
);

/** Phrases in other languages for the rest, for existing things and for what is unchanged. */
const OTHER_LANGUAGES = new RegExp(
  [
    // German, French, Spanish, Portuguese, Italian
    'rest(?:licher)? (?:des |der )?(?:codes?|datei|funktion|klasse|inhalts)',
    '(?:rest|bleibt|code|datei) (?:bleibt )?unverändert',
    '^unverändert',
    '(?:bestehender|vorhandener|restlicher|bisheriger) code',
    'reste du (?:code|fichier|contenu)',
    'code (?:existant|inchangé)',
    'resto del? (?:código|archivo|fichero|contenido)',
    'código (?:existente|anterior|sin cambios)',
    '^sin cambios',
    '(?:resto|restante) do (?:código|arquivo|ficheiro)',
    'código (?:inalterado|restante)',
    '^inalterado',
    'resto del (?:codice|file|contenuto)',
    'codice (?:esistente|invariato|rimanente)',
    '^invariato',
    // Russian
    '(?:остальной|существующий|предыдущий) код',
    '(?:код|остальное|остальная часть).*без изменений',
    '^без изменений',
    // Chinese, Japanese, Korean
    '(?:其余|其他|其它|剩余|余下|原有|现有|之前)的?(?:代码|内容|部分|方法|函数|逻辑)',
    '(?:代码|内容|部分|其余)?(?:保持不变|没有变化|不变)$',
    '(?:省略|略去)(?:其余|其他|代码|部分)?$',
    '(?:既存|残り|以前|従来|他)の(?:コード|内容|部分|メソッド|関数|処理)',
    '^変更なし',
    '(?:以下|以降|中)?省略$',
    '(?:기존|나머지|이전) ?(?:코드|내용|부분|메서드|함수)',
    '변경 ?(?:없음|사항 없음)',
    '생략$',
  ].join('|'),
  'u',
);
