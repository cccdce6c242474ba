import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Fault, Script } from '@orion/llm-adapters/scripted';

/** A model that is sometimes away, cut off or slow. */
const FAULTS: readonly Fault[] = [
  { kind: 'disconnect', at: { characters: 300 }, times: 1 },
  { kind: 'status', status: 429, retryAfter: '1', times: 1 },
  { kind: 'length', at: { lines: 20 }, times: 1 },
  { kind: 'stall', at: { characters: 200 }, forMs: 1_500, times: 1 },
];

const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}: it lasts\n`).join('');
const FLOW = { chunk: { min: 10, max: 40 }, eventsPerSecond: 100 } as const;

/** A file of each client, which is written again and again. */
export const soakFile = (client: number): string => `file-${client}-of-it.txt`;

/** The most clients that have a file of their own. */
const CLIENTS = 500;

/** Each of the faults strikes one request of so many; there are enough of them for an hour. */
const BETWEEN_FAULTS = 8;
const ROUNDS = 1_500;

const WRITES = { when: { toolChoice: 'none' as const }, reply: { text: `${LINES}DONE` } };

/** What is asked most often, and what is used up, is looked at first. */
export const SOAK_SCRIPT: Script = {
  shape: FLOW,
  behaviours: [
    ...Array.from({ length: CLIENTS }, (_, client) => ({
      when: { lastRole: 'user' as const, last: soakFile(client), toolChoice: 'auto' as const },
      reply: {
        toolCalls: [
          {
            name: BEGIN_TOOL_NAME,
            arguments: { intent: 'a file', target_file: soakFile(client), operation: 'overwrite' },
          },
        ],
      },
    })),
    {
      when: { toolChoice: 'auto' },
      reply: { text: 'It is there, as you asked for, and nothing else has to be done.' },
    },
    ...Array.from({ length: ROUNDS }, () =>
      FAULTS.flatMap((fault) => [
        { ...WRITES, times: 1, faults: [fault] },
        { ...WRITES, times: BETWEEN_FAULTS },
      ]),
    ).flat(),
    WRITES,
  ],
};
