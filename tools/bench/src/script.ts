import { BEGIN_TOOL_NAME } from '@orion/contracts';
import { generateLines } from '@orion/llm-adapters/scripted';
import type { Script, Shape } from '@orion/llm-adapters/scripted';

/** About 80 characters a line, all of them different. */
const TEMPLATE = '- {n:6} {words:9} {hex}';
const EVENT_CHARACTERS = 24;

export function targetOf(lines: number): string {
  return `docs/${lines}-lines.md`;
}

export function contentOf(lines: number): string {
  return generateLines({ kind: 'lines', count: lines, template: TEMPLATE });
}

/** Events that carry the content, as the scripted provider cuts it. */
export function eventsOf(content: string): number {
  return Math.ceil((content.length + 'DONE'.length) / EVENT_CHARACTERS);
}

/** How the bytes flow; the events are the same. */
export type Flow = 'bulk' | 'event by event';

const FLOWS: Readonly<Record<Flow, Shape>> = {
  /** In pieces of 64 KiB: the server is as fast as it can be, and hides as little as it can of what a reader costs. */
  bulk: {},
  /** In pieces of about one event, as providers send. */
  'event by event': { bytes: 254 },
};

/** A model that writes a file of each size when it is asked for it, and says one sentence otherwise. */
export function benchScript(sizes: readonly number[], flow: Flow): Script {
  return {
    shape: { chunk: EVENT_CHARACTERS, ...FLOWS[flow] },
    behaviours: [
      ...sizes.flatMap((lines) => [
        {
          name: `document ${lines}`,
          reply: {
            document: {
              target: targetOf(lines),
              content: { kind: 'lines' as const, count: lines, template: TEMPLATE },
            },
          },
        },
        {
          name: `begin ${lines}`,
          when: { toolResults: 0, offersTool: BEGIN_TOOL_NAME, lastUser: targetOf(lines) },
          reply: {
            text: 'I will write it.',
            toolCalls: [
              {
                name: BEGIN_TOOL_NAME,
                arguments: {
                  intent: 'a long list',
                  target_file: targetOf(lines),
                  operation: 'create',
                },
              },
            ],
          },
        },
      ]),
      { name: 'sentence', reply: { text: 'This is one sentence.' } },
    ],
  };
}
