import type { Orion } from '@orion/agent';

import type { LineKind } from '../terminal/tone.ts';
import type { Asking } from './asking.ts';
import type { PromptStore } from './prompt-store.ts';
import type { ChatSetup, Turns } from './turns.ts';

/** What jobs and commands of a conversation work with. */
export type ChatTools = ChatSetup & {
  readonly orion: Orion;
  readonly turns: Turns;
  readonly commands: readonly {
    readonly name: string;
    readonly argument: string;
    readonly summary: string;
  }[];
  /** One line of the transcript. */
  readonly line: (text: string, tone?: LineKind) => void;
  readonly ask: Asking['ask'];
  /** Prompts that waited when an earlier process ended. */
  readonly waitedEarlier: PromptStore['earlier'];
  /** Sends a text as if it had been typed; `storedId` is its id where it is stored already. */
  readonly send: (typed: string, storedId?: string) => void;
  readonly leave: () => void;
};
