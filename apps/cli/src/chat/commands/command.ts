import type { ChatTools } from '../tools.ts';

/** What follows a slash. */
export type ChatCommand = {
  readonly name: string;
  /** How its argument is written, such as `[id]`; empty when it takes none. */
  readonly argument: string;
  readonly summary: string;
  /** Whether it runs at once, also while a turn runs. */
  readonly beside: boolean;
  run(tools: ChatTools, argument: string, signal: AbortSignal): Promise<void>;
};
