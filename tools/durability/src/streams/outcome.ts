import type { Loss } from './measure/loss.ts';
import type { Moment } from './plan.ts';

/** What the kill found. */
export type Found =
  /** No session yet: nothing may have changed. */
  | 'no session'
  | 'session'
  /** The file was committed before the kill, or the command had ended. */
  | 'committed';

export type KillOutcome = {
  readonly seed: number;
  readonly shape: string;
  readonly moment: Moment['kind'];
  readonly found: Found;
  /** Of the document, in bytes. */
  readonly documentBytes: number;
  /** Null unless a session was found. */
  readonly loss: Loss | null;
  /** Lost text that arrived in time but may be a marker or an anchor. */
  readonly heldBack: boolean;
  /** The command that came after the kill ended with 0. */
  readonly recovered: boolean;
  readonly byteEqual: boolean;
  readonly seams: number;
  /** Something was left that only the start after the recovery removed. */
  readonly cleanedLater: boolean;
  /** The session did not know its provider yet; the recovery named it. */
  readonly withoutTurn: boolean;
  /** Empty if all is well. */
  readonly failures: readonly string[];
  /** The folder that was kept, for a failure. */
  readonly folder: string | null;
  readonly tookMs: number;
};
