import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Script } from '@orion/llm-adapters/scripted';

import type { DemoDocument } from './document.ts';

export const DEMO_TARGET = 'program/orion.js';

/** So many events a second make the whole document take a few seconds. */
const EVENTS_PER_SECOND = 4000;
/** Where the first stream waits, should this machine be too slow to kill the writer in time. */
const WAITING_PLACE = 0.72;
const WAITING_MS = 60_000;

/**
 * What the demo's model does: begins the file, streams the document, says a last word. Where it continues after the
 * kill is not written here: it finds that out from the lines that the recovery's request quotes.
 */
export function demoScript(document: DemoDocument, path: string): Script {
  return {
    shape: { chunk: { min: 20, max: 160 }, eventsPerSecond: EVENTS_PER_SECOND, usage: true },
    behaviours: [
      {
        name: 'document',
        reply: {
          document: { target: DEMO_TARGET, content: { kind: 'file', path }, endMarker: 'session' },
        },
        faults: [
          {
            kind: 'stall',
            reply: 1,
            at: { lines: Math.round(document.lines * WAITING_PLACE) },
            forMs: WAITING_MS,
          },
        ],
      },
      {
        name: 'begin',
        when: { toolResults: 0, offersTool: BEGIN_TOOL_NAME },
        reply: {
          text: `I will write ${DEMO_TARGET}.`,
          toolCalls: [
            {
              name: BEGIN_TOOL_NAME,
              arguments: {
                intent: 'the program text of Orion',
                target_file: DEMO_TARGET,
                operation: 'create',
              },
            },
          ],
        },
      },
      { name: 'last word', reply: { text: 'The file is written.' } },
    ],
  };
}
