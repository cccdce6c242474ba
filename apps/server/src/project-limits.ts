import type { RunningLimits } from '@orion/contracts';

/** What one project may have, in all processes of a store together. */
export type ProjectLimits = {
  /** Turns that run at the same time, those that wait for a person included; further ones wait. Null: any number. */
  readonly running: number | null;
  /** Turns that wait; with more, further ones get RATE_LIMITED. */
  readonly queued: number;
  /**
   * Tokens that its turns of one day may have used, by UTC, before further turns get RATE_LIMITED. A turn counts when it
   * ends. Null: any number.
   */
  readonly tokensPerDay: number | null;
};

/** By project. `*` is each that is not named, and what the others leave out. */
export type LimitsByProject = Readonly<Record<string, Partial<ProjectLimits>>>;

export const DEFAULT_PROJECT_LIMITS: ProjectLimits = {
  running: null,
  // Half of what may wait in all: one project leaves room to others.
  queued: 5_000,
  tokensPerDay: null,
};
const OTHERS = '*';

export function limitsOf(given: LimitsByProject, projectId: string): ProjectLimits {
  const own = Object.hasOwn(given, projectId) ? given[projectId] : {};
  return { ...DEFAULT_PROJECT_LIMITS, ...given[OTHERS], ...own };
}

export function runningLimits(given: LimitsByProject): RunningLimits {
  const limitOf = (name: string): number => limitsOf(given, name).running ?? Infinity;
  const names = Object.keys(given).filter((name) => name !== OTHERS);
  return {
    others: limitOf(OTHERS),
    projects: new Map(names.map((name) => [name, limitOf(name)])),
  };
}

/** The engine counts turns in 32 bits. */
const MOST_TURNS = 2 ** 31 - 1;

/** A sentence about each value that is none. */
export function projectLimitProblems(given: LimitsByProject): readonly string[] {
  return Object.entries(given).flatMap(([project, limits]) => {
    const what = `The limits of the project ${JSON.stringify(project)}`;
    if (project === '' || !isObject(limits))
      return [`${what} are not an object such as {"running": 10}.`];
    return Object.entries(limits).flatMap(([name, limit]) => {
      if (!Object.hasOwn(DEFAULT_PROJECT_LIMITS, name))
        return [`${what} have ${JSON.stringify(name)}, but not running, queued or tokensPerDay.`];
      const isNone = limit === null && name !== 'queued';
      const most = name === 'tokensPerDay' ? Number.MAX_SAFE_INTEGER : MOST_TURNS;
      if (isNone || (Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= most))
        return [];
      const found = JSON.stringify(limit);
      return [`${what}: ${name} is ${found}, but must be a whole number from 1 to ${most}.`];
    });
  });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
