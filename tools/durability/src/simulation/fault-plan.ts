import { Chance } from './chance.ts';
import type { Weather } from './connection.ts';
import type { ScriptedCall, TurnScript } from './scripted-model.ts';

export type FaultKind = 'kill' | 'freeze' | 'partition' | 'clock' | 'failover' | 'stop';

/** `length`: how long it lasts, how far a clock jumps, how far the store goes back, or how long a process is missing. */
export type PlannedFault = {
  readonly kind: FaultKind;
  readonly at: number;
  readonly length: number;
};

export type RunPlan = {
  readonly processes: number;
  /** The turns of each conversation, one after the other. */
  readonly conversations: readonly (readonly TurnScript[])[];
  /** Some of the turns write files. */
  readonly hasFiles: boolean;
  readonly readers: number;
  readonly faults: readonly PlannedFault[];
  readonly weather: Weather;
  readonly duplicates: number;
  /** Until when faults happen, and the weather is bad. */
  readonly badUntil: number;
};

const LENGTHS_MS: Readonly<Record<FaultKind, readonly [least: number, most: number]>> = {
  kill: [200, 6_000],
  freeze: [500, 30_000],
  partition: [500, 25_000],
  clock: [-3_000_000_000, 3_000_000_000],
  failover: [50, 4_000],
  stop: [200, 3_000],
};
const PLAIN = {
  protocol: 'standard',
  answers: [],
  answerAfterMs: 0,
  cancelAfterMs: null,
} as const satisfies Partial<TurnScript>;
const CALM: Weather = { lostAnswers: 0, slow: 0, slowMs: 0 };

/** What happens in the run of that seed. Without faults, if they are to be left out. */
export function planRun(seed: number, { isCalm = false } = {}): RunPlan {
  const chance = new Chance(seed ^ 0x51ed270b);
  const badUntil = chance.between(5_000, 25_000);
  const conversations = Array.from({ length: chance.between(1, 4) }, (_, conversation) =>
    Array.from({ length: chance.between(1, 2) }, (_each, turn): TurnScript => ({
      ...PLAIN,
      name: `c${conversation}.${turn}`,
      calls: Array.from({ length: chance.between(0, 3) }, () => chance.of(['look', 'act'])),
      pieces: chance.between(3, 20),
    })),
  );
  const kinds: readonly FaultKind[] = [
    'kill',
    'kill',
    'freeze',
    'freeze',
    'partition',
    'clock',
    'stop',
  ];
  const hasFailover = chance.isLikely(0.25);
  const faults = Array.from({ length: chance.between(1, 6) }, (_, index): PlannedFault => {
    const kind = hasFailover && index === 0 ? 'failover' : chance.of(kinds);
    return { kind, at: chance.between(100, badUntil), length: chance.between(...LENGTHS_MS[kind]) };
  });
  const peopled = withPeople(conversations, new Chance(seed ^ 0x2c1b3c6d));
  const files = new Chance(seed ^ 0x5e55104);
  const hasFiles = files.isLikely(0.3);
  return {
    processes: chance.between(2, 4),
    conversations: hasFiles ? withFiles(peopled, files) : peopled,
    hasFiles,
    readers: chance.between(1, 2),
    faults: isCalm ? [] : faults.toSorted((one, other) => one.at - other.at),
    weather:
      isCalm || chance.isLikely(0.4)
        ? CALM
        : {
            lostAnswers: chance.of([0, 0.01, 0.05, 0.15]),
            slow: chance.of([0, 0.02, 0.1]),
            slowMs: chance.of([200, 1_500, 9_000]),
          },
    duplicates: isCalm ? 0 : chance.of([0, 0, 0.05]),
    badUntil,
  };
}

/** Half of the runs have turns with phases, turns that ask, and turns that are cancelled. */
function withPeople(
  conversations: RunPlan['conversations'],
  chance: Chance,
): RunPlan['conversations'] {
  if (chance.isLikely(0.5)) return conversations;
  const peopled = (script: TurnScript): TurnScript => {
    const isCancelled = chance.isLikely(0.3);
    const calls = script.calls.map((call): ScriptedCall => {
      if (call === 'act' && isCancelled && chance.isLikely(0.3)) return 'hang';
      return call === 'act' && chance.isLikely(0.7) ? 'ask' : call;
    });
    return {
      ...script,
      calls,
      protocol: chance.isLikely(0.4) ? 'two-stage' : 'standard',
      answers: chance.of([['yes'], ['no'], ['yes', 'no']]),
      answerAfterMs: chance.of([0, chance.between(100, 3_000), chance.between(3_000, 30_000)]),
      cancelAfterMs: isCancelled ? chance.between(0, 15_000) : null,
    };
  };
  return conversations.map((scripts) => scripts.map(peopled));
}

function withFiles(
  conversations: RunPlan['conversations'],
  chance: Chance,
): RunPlan['conversations'] {
  return conversations.map((scripts) =>
    scripts.map((script) => ({
      ...script,
      calls: script.calls.map((call): ScriptedCall => (chance.isLikely(0.5) ? 'write' : call)),
      // A change of a file that is refused pauses its turn.
      answers: ['yes'],
    })),
  );
}

export { CALM };
