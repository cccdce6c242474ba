import { OrionError } from '@orion/contracts';

export function configurationError(message: string, hint: string, cause?: unknown): OrionError {
  return new OrionError({ code: 'CONFIG_INVALID', message, hint, cause });
}

/** Why an address cannot be used; null: it can. A password in it would be stored with a session. */
export function urlProblem(text: string): 'not_http' | 'holds_secret' | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'not_http';
  return url.username === '' && url.password === '' ? null : 'holds_secret';
}
