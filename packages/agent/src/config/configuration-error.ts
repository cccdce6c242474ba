import { OrionError } from '@orion/contracts';

export function configurationError(message: string, hint: string, cause?: unknown): OrionError {
  return new OrionError({ code: 'CONFIG_INVALID', message, hint, cause });
}

/** Checks every item, and throws one CONFIG_INVALID about all that were refused. */
export function checkEach<Item>(items: Iterable<Item>, check: (item: Item) => void): void {
  const refused: OrionError[] = [];
  for (const item of items) {
    try {
      check(item);
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code !== 'CONFIG_INVALID') throw error;
      refused.push(error);
    }
  }
  const [first] = refused;
  if (first === undefined) return;
  if (refused.length === 1) throw first;
  const hints = new Set(refused.map(({ hint }) => hint));
  throw configurationError(refused.map(({ message }) => message).join(' '), [...hints].join(' '));
}

/** Why an address cannot be used; null: it can. A password in it would be stored with a session. */
export function urlProblem(text: string): 'not_http' | 'holds_secret' | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'not_http';
  return url.username === '' && url.password === '' ? null : 'holds_secret';
}
