import { visibleName } from '@orion/contracts';

/** The text without anything that a terminal would act on, that is invisible, or that could pass for another line. */
export function escapeForTerminal(text: string): string {
  return visibleName(text);
}
