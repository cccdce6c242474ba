export { runCampaign } from './campaign.ts';
export type { Outcome, Task } from './campaign.ts';
export { openCommandLane } from './command-lane.ts';
export { alarmsOf, falseAlarmTasks } from './false-alarms.ts';
export { openInProcessLane } from './in-process-lane.ts';
export { coreMatrix, sampleMatrix, sizeOf, wholeMatrix } from './matrix.ts';
export { startModels } from './model.ts';
export { formatRecord } from './record.ts';
export { count, formatExchanges, formatFailures, formatReport, placeOf } from './report.ts';
