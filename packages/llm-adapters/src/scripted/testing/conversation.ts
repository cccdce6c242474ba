import type { LlmEvent, Message, SendOptions } from '@orion/contracts';
import { onTestFinished } from 'vitest';

import { createOpenAiCompatibleAdapter } from '../../openai-compatible/adapter.ts';
import { ONCE, collect, textOf } from '../../testing/streams.ts';
import type { Script } from '../script.ts';
import { startScriptedProvider } from '../server.ts';
import type { ScriptedProvider, ScriptedProviderOptions } from '../server.ts';

export type Talk = {
  readonly provider: ScriptedProvider;
  readonly ask: (messages: readonly Message[], send?: SendOptions) => Promise<LlmEvent[]>;
  /** The text of the reply to these messages. */
  readonly text: (...messages: readonly Message[]) => Promise<string>;
};

/** The server of a script for the duration of the test, and the ordinary adapter that talks to it. */
export async function talk(script: Script, options?: ScriptedProviderOptions): Promise<Talk> {
  const provider = await startScriptedProvider(script, options);
  onTestFinished(() => provider.close());
  const adapter = createOpenAiCompatibleAdapter({
    model: 'm',
    baseUrl: provider.url,
    retry: ONCE,
  });
  const ask: Talk['ask'] = async (messages, send = {}) =>
    await collect(adapter.sendMessagesStreaming(messages, send));
  return { provider, ask, text: async (...messages) => textOf(await ask(messages)) };
}

export const user = (content: string): Message => ({ role: 'user', content });

/** The conversation up to the result of begin, which asks for the content. */
export function begun(target: string): Message[] {
  const content = JSON.stringify({
    instructions: `Write the complete content of ${target} as your next message, from its first line.\nAfter the last line write DONE on a line of its own, then stop.\nIf the file itself contains a line that is only DONE, end with DONE 7f3a instead.`,
  });
  return [
    user('Write it.'),
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'c', name: 'WritePlanTool_begin', arguments: '{}', state: 'complete' }],
    },
    { role: 'tool', toolCallId: 'c', toolName: 'WritePlanTool_begin', content },
  ];
}

export function continuation(target: string, saved: string, anchorLines: number): Message {
  const lines = saved.split('\n').slice(0, -1);
  const anchor = lines.slice(-anchorLines);
  return user(
    `Your message was cut off. ${lines.length} lines of ${target} are saved. They end with:\n<tail-7f3a>\n${anchor.join('\n')}\n</tail-7f3a>\nYour next message must start with exactly these ${anchorLines} lines. Then write the rest of the file, beginning with the next line in full.`,
  );
}
