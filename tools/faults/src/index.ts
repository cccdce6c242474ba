export { checkFiles, checkNextStart, playEarlier, recordCalls } from './in-process.ts';
export { makePlace, openPlain } from './place.ts';
export type { Place } from './place.ts';
export { tracedKills } from './real-faults.ts';
export { SCENARIOS } from './scenarios.ts';
export type { Scenario } from './scenarios.ts';
