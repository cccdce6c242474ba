/** Long documents of three kinds. Lines repeat as they do in real files, so that a join is not trivially unique. */
export type LongDocument = {
  readonly name: string;
  readonly target: string;
  readonly text: string;
};

const LINES = 2000;

export function codeDocument(): LongDocument {
  return { name: 'code', target: 'src/program.ts', text: code('\n') };
}

export function carriageReturnDocument(): LongDocument {
  return { name: 'CRLF', target: 'src/program.cs', text: code('\r\n') };
}

export function markdownDocument(): LongDocument {
  const lines: string[] = ['# A long guide', ''];
  for (let chapter = 1; lines.length < LINES - 12; chapter += 1) {
    lines.push(
      `## Chapter ${chapter}`,
      '',
      `This chapter tells how step ${chapter} is done. Read it before the next one:`,
      '',
      '```sh',
      'cd project',
      `./step --number ${chapter} --verbose`,
      '```',
      '',
      '- Check the output.',
      `- It ends with the number ${chapter * 7}.`,
      '',
    );
  }
  while (lines.length < LINES) lines.push(`The end, line ${lines.length + 1}.`);
  return { name: 'Markdown', target: 'docs/guide.md', text: `${lines.join('\n')}\n` };
}

function code(lineEnding: string): string {
  const lines: string[] = ['// A long program', ''];
  for (let number = 1; lines.length < LINES; number += 1) {
    lines.push(
      `function step${number}(input) {`,
      '  if (input === null) {',
      '    return null;',
      '  }',
      `  const value = input.value * ${number * 3};`,
      '  return value;',
      '}',
      '',
    );
  }
  return lines.slice(0, LINES).join(lineEnding) + lineEnding;
}
