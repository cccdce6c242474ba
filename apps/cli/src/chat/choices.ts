import type { ApproveChoice } from '@orion/agent';
import type { Mode } from '@orion/contracts';

/** What the person chose for the turns from the next one on. */
export type Choices = {
  /** Null where a script answers, or none was named. */
  model: string | null;
  mode: Mode;
  /** Null: as configured. */
  protocol: string | null;
  approve: ApproveChoice;
};
