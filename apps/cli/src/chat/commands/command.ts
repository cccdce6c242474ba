import { alignColumns } from '../../terminal/table.ts';
import type { Completion } from '../face.ts';
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
  /** What its argument can be. */
  complete?(tools: ChatTools): Promise<Completion['items']>;
};

/** Lines that are copied as they are. */
export function verbatim({ face }: Pick<ChatTools, 'face'>, lines: readonly string[]): void {
  if (lines.length === 0) return;
  face.print({ kind: 'verbatim', lines: lines.map((text) => ({ text, tone: 'notice' })) });
}

/** A table of two or more columns. */
export function table(tools: Pick<ChatTools, 'face'>, rows: readonly (readonly string[])[]): void {
  verbatim(tools, alignColumns(rows).trimEnd().split('\n'));
}
