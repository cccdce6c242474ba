import { runLane } from './lanes.ts';
import type { LaneRequest } from './lanes.ts';

process.once('message', (request: LaneRequest) => {
  void runLane(request, (told) => process.send?.(told)).then(() => process.disconnect());
});
