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
