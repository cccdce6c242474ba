import type { Screen } from './screen.ts';

/**
 * One line that the person types, without its line ending; null at the end of the input. Rejects with the signal's
 * reason when it is aborted.
 */
export function readTypedLine(
  stdin: NodeJS.ReadStream,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let typed = '';
    const finish = (settle: () => void): void => {
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd).pause();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onData = (chunk: string): void => {
      typed += chunk;
      const end = typed.search(/[\r\n]/u);
      if (end !== -1) finish(() => resolve(typed.slice(0, end)));
    };
    const onEnd = (): void => finish(() => resolve(typed === '' ? null : typed));
    const onAbort = (): void => finish(() => reject(signal.reason as Error));
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    signal.addEventListener('abort', onAbort);
    stdin.setEncoding('utf8');
    stdin.on('data', onData).on('end', onEnd).on('error', onEnd);
    stdin.resume();
  });
}

/** What a person said to something that waits for a yes; the reason is for the model. */
export type Approval =
  | { readonly approved: true }
  | { readonly approved: false; readonly reason: string };

const NO = /^(?:no?(?:[\s,:]+(?<why>.+))?)?$/isu;

/**
 * Asks whether something may happen, until there is an answer: yes, no, or one of `others`, each a word that its first
 * letter stands for, with what it does. Only a yes approves; no answer at all is a no.
 */
export async function askApproval<Other extends string = never>(
  { screen, stdin }: { readonly screen: Screen; readonly stdin: NodeJS.ReadStream },
  question: string,
  others: Readonly<Partial<Record<Other, string>>>,
  signal: AbortSignal,
): Promise<Approval | Other> {
  const words = Object.keys(others) as Other[];
  const choices = words.map((word) => `, ${word.charAt(0)} ${others[word]}`).join('');
  for (;;) {
    screen.ask(`${question} (y/N${choices}, n <why> tells the model) `);
    const typed = await readTypedLine(stdin, signal);
    if (typed === null) return { approved: false, reason: 'nobody answered' };
    screen.answered();
    const answer = typed.trim();
    if (/^y(?:es)?$/iu.test(answer)) return { approved: true };
    const no = NO.exec(answer);
    if (no !== null) {
      const why = no.groups?.['why'];
      return {
        approved: false,
        reason: `the person said no${why === undefined ? '' : `: ${why}`}`,
      };
    }
    const other = words.find((word) => [word, word.charAt(0)].includes(answer.toLowerCase()));
    if (other !== undefined) return other;
    screen.line('This is not one of the answers.');
  }
}

/** Asks a question that only a yes answers with yes; no answer at all is a no. */
export async function confirm(
  { screen, stdin }: { readonly screen: Screen; readonly stdin: NodeJS.ReadStream },
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  screen.ask(question);
  const typed = await readTypedLine(stdin, signal);
  if (typed === null) return false;
  screen.answered();
  return ['y', 'yes'].includes(typed.trim().toLowerCase());
}
