import { runLane } from './lanes.ts';
import type { LaneRequest } from './lanes.ts';

process.once('message', (request: LaneRequest) => {
  void runLane(request, (report) => process.send?.(report)).then(() => process.disconnect());
});
