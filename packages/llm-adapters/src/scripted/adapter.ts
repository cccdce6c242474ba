import { defined, toErrorInfo } from '@orion/contracts';
import type { LlmAdapter } from '@orion/contracts';

import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import { parseScript } from './script.ts';
import type { Script } from './script.ts';
import { startScriptedProvider } from './server.ts';
import type { RecordedRequest, ScriptedProvider, ScriptedProviderOptions } from './server.ts';

export type ScriptedAdapterOptions = Pick<ScriptedProviderOptions, 'readDocument'> & {
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
};

export type ScriptedAdapter = LlmAdapter & {
  /** What the provider has received so far. */
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
};

/**
 * A script as an adapter: a provider server in this process, started by the first request, and the ordinary
 * chat-completions adapter that talks to it over HTTP. An invalid script is refused immediately.
 */
export function createScriptedAdapter(
  script: Script | string | Readonly<Record<string, unknown>>,
  options: ScriptedAdapterOptions = {},
): ScriptedAdapter {
  const { model = 'scripted', readDocument, ...sampling } = options;
  const parsed = parseScript(script);
  let provider: Promise<ScriptedProvider> | undefined;
  let adapter: LlmAdapter | undefined;
  let requests: readonly RecordedRequest[] = [];

  async function getAdapter(): Promise<LlmAdapter> {
    provider ??= startScriptedProvider(parsed, {
      keepsProcess: false,
      ...defined({ readDocument }),
    });
    const { url, requests: received } = await provider;
    requests = received;
    const key = defined({ apiKey: parsed.apiKey });
    adapter ??= createOpenAiCompatibleAdapter({ ...sampling, ...key, model, baseUrl: url });
    return adapter;
  }

  return {
    name: 'scripted',
    model,
    signalsMessageEnd: true,
    structuredOutput: true,
    writesThinkTags: true,
    get requests(): readonly RecordedRequest[] {
      return requests;
    },
    async *sendMessagesStreaming(messages, sendOptions) {
      let started: LlmAdapter;
      try {
        started = await getAdapter();
      } catch (error) {
        // An unreadable document is noticed only now.
        yield { type: 'error', error: toErrorInfo(error) };
        return;
      }
      yield* started.sendMessagesStreaming(messages, sendOptions);
    },
    close: async () => {
      const closing = provider;
      provider = undefined;
      adapter = undefined;
      await (await closing)?.close();
    },
  };
}
