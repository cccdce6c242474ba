import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Fault, Script, Shape } from '@orion/llm-adapters/scripted';

/** A model that begins the target, streams the document and says a last word. It never knows what was saved. */
export function writerScript(
  target: string,
  document: string,
  flow: Shape,
  faults: readonly Fault[] = [],
): Script {
  return {
    behaviours: [
      {
        name: 'document',
        shape: flow,
        faults,
        reply: { document: { target, content: { kind: 'text', text: document } } },
      },
      {
        name: 'begin',
        shape: { chunk: 200 },
        when: { toolResults: 0, offersTool: BEGIN_TOOL_NAME },
        reply: {
          text: `I will write ${target}.`,
          toolCalls: [
            {
              name: BEGIN_TOOL_NAME,
              arguments: { intent: 'a long file', target_file: target, operation: 'create' },
            },
          ],
        },
      },
      { name: 'last word', reply: { text: 'The file is written.' } },
    ],
  };
}

/** Bytes of an event around its text, as the scripted provider sends it. */
const EVENT_BYTES = 225;

/** About how many bytes a document takes on the wire. */
export function estimateWireBytes(document: string, flow: Shape): number {
  const { chunk = 24 } = flow;
  const [least, most] =
    typeof chunk === 'object' && 'min' in chunk
      ? [chunk.min, chunk.max]
      : [Math.min(...[chunk].flat()), Math.max(...[chunk].flat())];
  const characters = (least + most) / 2;
  return (document.length / characters) * EVENT_BYTES + Buffer.byteLength(document);
}
