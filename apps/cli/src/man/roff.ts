/** Characters that troff would read or draw as something else. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  '`': '\\(ga',
  "'": '\\(aq',
  '"': '\\(dq',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** A text as troff sets it, whatever is in it: a line of it is never a request. */
export function roffText(text: string): string {
  return text
    .replaceAll(/[\\\-`'"^~]|[^\n\t\u0020-\u007E]/gu, escaped)
    .replaceAll(/^\./gmu, '\\&.');
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return ESCAPES[character] ?? `\\[u${point.toString(16).toUpperCase().padStart(4, '0')}]`;
}

export function bold(text: string): string {
  return `\\fB${roffText(text)}\\fR`;
}

/** `--model <name>`: what is typed as it is, and what stands for something else. */
export function term(text: string): string {
  return text
    .split(/(<[^>]*>|\[[^\]]*\])/u)
    .filter((part) => part !== '')
    .map((part) => (/^[<[]/u.test(part) ? `\\fI${roffText(part)}\\fR` : bold(part)))
    .join('');
}
