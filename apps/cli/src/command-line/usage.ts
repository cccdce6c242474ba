import { defined, OrionError } from '@orion/contracts';

/** What was typed cannot be meant. Without a hint it is the general one. */
export function usage(message: string, hint?: string): OrionError {
  return new OrionError({ code: 'USAGE', message, ...defined({ hint }) });
}
