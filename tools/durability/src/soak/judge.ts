/** What must not have grown in the second half of the time, before which caches fill. */
import { growthOf, bloatedTables } from './bloat.ts';
import { slopePerMinute } from './sample.ts';
import type { LiveSample, WatchedProcess } from './sample.ts';
import type { StoreSample } from './tables.ts';

/** From the half of the time to its end. */
const MAX_MORE_LIVE_MB = 2;
const MAX_MORE_NATIVE_MB = 10;
const MAX_MORE_DESCRIPTORS = 10;
/** The samples for the output, of all that were taken. */
const SHOWN_EVERY = 15;
/** Postgres looks once a minute whether a table has to be vacuumed. */
const VACUUMED_SECONDS = 300;
/**
 * The share of jobs beyond one a client: a turn that ends while another process, which has just started, gives turns
 * without a job one has a job again, until somebody is handed it.
 */
const MAX_MORE_JOBS = 0.1;
/** The engine makes one a day. */
const MAX_MORE_TABLES = 2;

type Verdict = { readonly figures: object; readonly misses: readonly string[] };

const isAfter = (seconds: number) => (sample: { readonly seconds: number }) =>
  sample.seconds >= seconds;

/** @param half the second at which half of the time is over */
export function judgeProcess({ name, samples, lives }: WatchedProcess, half: number): Verdict {
  const warm = samples.filter(isAfter(half));
  const middle = Math.floor(warm.length / 2);
  const warmLives = lives.filter(isAfter(half));
  const growth = (valueOf: (live: LiveSample) => number): number =>
    (slopePerMinute(warmLives, valueOf) / 1024) * (half / 60);
  const live = growth(({ liveKb }) => liveKb);
  const native = growth(({ nativeKb }) => nativeKb);
  // How many connections a process has changes with its clients; what it never closes stays.
  const fewest = (part: WatchedProcess['samples']): number =>
    Math.min(...part.map(({ descriptors }) => descriptors));
  const more = warm.length < 2 ? 0 : fewest(warm.slice(middle)) - fewest(warm.slice(0, middle));
  return {
    figures: {
      rssMb: samples
        .filter((_, index) => index % SHOWN_EVERY === 0)
        .map(({ rssKb }) => Math.round(rssKb / 1024)),
      rssMbAMinute: rounded(slopePerMinute(warm, ({ rssKb }) => rssKb / 1024)),
      liveMb: lives.map(({ liveKb }) => rounded(liveKb / 1024)),
      moreLiveMb: rounded(live),
      codeMb: lives.map(({ codeKb }) => rounded(codeKb / 1024)),
      nativeMb: lives.map(({ nativeKb }) => Math.round(nativeKb / 1024)),
      moreNativeMb: rounded(native),
      descriptors: [fewest(warm.slice(0, middle)), fewest(warm.slice(middle))],
      moreDescriptors: more,
    },
    misses: [
      ...(live > MAX_MORE_LIVE_MB ? [`live memory of the ${name} grows`] : []),
      ...(native > MAX_MORE_NATIVE_MB ? [`memory of the ${name} outside of its heap grows`] : []),
      ...(more > MAX_MORE_DESCRIPTORS ? [`descriptors of the ${name} grow`] : []),
    ],
  };
}

/** @param clients each of which waits for one turn at most */
export function judgeStoreSize(
  samples: readonly StoreSample[],
  half: number,
  clients: number,
): Verdict {
  const warm = samples.filter(isAfter(half));
  const middle = Math.floor(warm.length / 2);
  const growth = growthOf(warm.slice(0, middle), warm.slice(middle));
  const mostJobs = Math.max(0, ...samples.map(({ jobs }) => jobs));
  const tableCount = (sample: StoreSample | undefined): number =>
    Object.keys(sample?.tables ?? {}).length;
  const isLong = half / 2 >= VACUUMED_SECONDS;
  return {
    figures: { mostJobs, growth },
    misses: [
      ...(isLong ? bloatedTables(growth) : []).map((table) => `the table ${table} is bloated`),
      ...(tableCount(warm.at(-1)) > tableCount(warm[0]) + MAX_MORE_TABLES
        ? ['there are ever more tables']
        : []),
      ...(mostJobs > clients * (1 + MAX_MORE_JOBS) ? ['jobs pile up'] : []),
      ...((samples.at(-1)?.jobs ?? 0) > 0 ? ['jobs are left'] : []),
    ],
  };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
