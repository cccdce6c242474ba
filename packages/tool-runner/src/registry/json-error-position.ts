/**
 * Where a text that `JSON.parse` refuses stops being JSON: the offset of the first character that cannot stand
 * there, or the length of a text that ends too early. The engine's own message tells it only for long texts, and
 * repeats the text in it.
 */
export function jsonErrorPosition(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let index = 0;
  for (;;) {
    while (isBlank(text[index])) index += 1;
    const character = text[index];
    if (character === undefined) return index;
    switch (expected) {
      case 'first value or ]':
      case 'value':
        if (character === ']' && expected === 'first value or ]') {
          open.pop();
          index += 1;
          expected = 'more or end';
        } else if (character === '{' || character === '[') {
          open.push(character);
          index += 1;
          expected = character === '{' ? 'first key or }' : 'first value or ]';
        } else {
          const end = character === '"' ? endOfString(text, index) : endOfPlain(text, index);
          if (end.failed) return end.index;
          index = end.index;
          expected = 'more or end';
        }
        break;
      case 'first key or }':
      case 'key':
        if (character === '}' && expected === 'first key or }') {
          open.pop();
          index += 1;
          expected = 'more or end';
        } else if (character === '"') {
          const end = endOfString(text, index);
          if (end.failed) return end.index;
          index = end.index;
          expected = 'colon';
        } else return index;
        break;
      case 'colon':
        if (character !== ':') return index;
        index += 1;
        expected = 'value';
        break;
      case 'more or end': {
        const container = open.at(-1);
        if (container === undefined) return index;
        if (character === ',') expected = container === '{' ? 'key' : 'value';
        else if (character === (container === '{' ? '}' : ']')) open.pop();
        else return index;
        index += 1;
        break;
      }
    }
  }
}

type Expected = 'value' | 'first value or ]' | 'key' | 'first key or }' | 'colon' | 'more or end';

type End = { readonly failed: boolean; readonly index: number };

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}

function endOfString(text: string, start: number): End {
  for (let index = start + 1; ; index++) {
    const character = text[index];
    if (character === undefined) return { failed: true, index: text.length };
    if (character === '"') return { failed: false, index: index + 1 };
    if (character < ' ') return { failed: true, index };
    if (character !== '\\') continue;
    index += 1;
    const escaped = text[index];
    if (escaped === undefined) return { failed: true, index: text.length };
    if (escaped === 'u') {
      for (let digit = 0; digit < 4; digit++) {
        index += 1;
        if (!/^[0-9a-fA-F]$/.test(text[index] ?? '')) return { failed: true, index };
      }
    } else if (!'"\\/bfnrt'.includes(escaped)) return { failed: true, index };
  }
}

/** A number, `true`, `false` or `null`. */
function endOfPlain(text: string, start: number): End {
  for (const word of ['true', 'false', 'null']) {
    if (text[start] !== word[0]) continue;
    let index = start;
    while (index < start + word.length && text[index] === word[index - start]) index += 1;
    return { failed: index < start + word.length, index };
  }
  let index = start;
  const digits = (): boolean => {
    const first = index;
    while (isDigit(text[index])) index += 1;
    return index > first;
  };
  if (text[index] === '-') index += 1;
  if (text[index] === '0') index += 1;
  else if (!digits()) return { failed: true, index };
  if (text[index] === '.') {
    index += 1;
    if (!digits()) return { failed: true, index };
  }
  if (text[index] === 'e' || text[index] === 'E') {
    index += 1;
    if (text[index] === '+' || text[index] === '-') index += 1;
    if (!digits()) return { failed: true, index };
  }
  return { failed: false, index };
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
