import type { HostileProvider, Manner } from './provider.ts';
import type { Ended, Site } from './site.ts';

type AttackKind = 'provider' | 'repository' | 'user';

/** One attack, as it is made. */
export type Attack = {
  readonly kind: AttackKind;
  readonly name: string;
  /** What the provider does; an honest one when left out. */
  readonly provider?: Manner;
  /** What is there before the command runs. */
  readonly plant?: (site: Site) => Promise<unknown> | void;
  /** The words of the command; a turn of the provider when left out. */
  readonly words?: (site: Site, provider: HostileProvider) => readonly string[];
  readonly options?: readonly string[];
  readonly env?: (site: Site) => Readonly<Record<string, string>>;
  /** Paths below the workspace that may be written besides the state; `a.txt` when left out. */
  readonly mayWrite?: readonly string[];
  /** Exit codes that are an answer to it. */
  readonly exits?: readonly number[];
  /** What else has to hold; a sentence about what does not. */
  readonly holds?: (after: After) => Promise<string | null> | string | null;
  /** How much longer than the honest run it may take because it waits on purpose, in milliseconds. */
  readonly waits?: number;
  /** Bytes that it may take beyond the honest run and the bound, because the task needs them. */
  readonly holdsBytes?: number;
};

/** An attack, by whoever makes all of its list. */
export type AttackOf = Omit<Attack, 'kind'>;

export type After = {
  readonly ended: Ended;
  readonly site: Site;
  readonly provider: HostileProvider;
};
