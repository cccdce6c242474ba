import { visibleName } from '@orion/contracts';

/** A text with nothing in it that a terminal would act on, that is not seen, or that could pass for another line. */
export function escapeForTerminal(text: string): string {
  return visibleName(text);
}
