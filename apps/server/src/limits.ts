/** What one process of the server takes at most. */
export type ServerLimits = {
  /** Of a JSON body. Content of files is not limited here, but by its write session. */
  readonly bodyBytes: number;
  /** A JSON body has to arrive within this time. */
  readonly bodyMs: number;
  /** An upload of which nothing arrives for this time is ended; what has arrived stays. */
  readonly uploadStallMs: number;
  /** Of the request line and all headers. */
  readonly headerBytes: number;
  /** They have to arrive within this time. */
  readonly headerMs: number;
  /** A connection on which nothing moves is closed, unless its client waits for an answer of this process. */
  readonly idleMs: number;
  readonly connections: number;
  /** Streams of events and waiting polls of one address. */
  readonly streamsPerClient: number;
  /** Turns that run at the same time. */
  readonly turns: number;
  /** Turns that wait for one of these to end; with more, further ones get RATE_LIMITED. */
  readonly waitingTurns: number;
  /**
   * Turns that begin, by protocol; with more, further ones get RATE_LIMITED. After a pause as many may begin at once. A
   * protocol of one's own counts as the standard one.
   */
  readonly standardTurnsPerMinute: number;
  readonly twoStageTurnsPerMinute: number;
  readonly controllerTurnsPerMinute: number;
  /** Requests that read. A burst may take twice as many at once; the same holds for those below. */
  readonly readsPerSecond: number;
  /** Requests that change something. */
  readonly changesPerSecond: number;
  /** Requests for what needs no token. */
  readonly opensPerSecond: number;
  /** Requests that the front door refuses, such as those without the right token: further ones get RATE_LIMITED. */
  readonly refusalsPerSecond: number;
};

export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 8 * 1024 * 1024,
  bodyMs: 10_000,
  uploadStallMs: 15_000,
  headerBytes: 16 * 1024,
  headerMs: 10_000,
  idleMs: 60_000,
  connections: 10_000,
  streamsPerClient: 1_000,
  turns: 1_000,
  waitingTurns: 10_000,
  standardTurnsPerMinute: 6_000,
  twoStageTurnsPerMinute: 6_000,
  controllerTurnsPerMinute: 6_000,
  readsPerSecond: 1_000,
  changesPerSecond: 200,
  opensPerSecond: 100,
  refusalsPerSecond: 20,
};
