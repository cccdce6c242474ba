import type { ProtocolContext, ProtocolStrategy } from '@orion/contracts';
import {
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  expectValidHistory,
  outcomeOf,
} from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';

import { resolveProtocolConfig } from '../base/config.ts';
import type { ProtocolConfigInput } from '../base/config.ts';

type Given = Partial<Omit<ProtocolContext, 'config'>> & {
  readonly config?: ProtocolConfigInput | undefined;
};

/** Runs a protocol against a model that sends all of these replies; the history that it leaves is valid. */
export async function runProtocol(
  protocol: ProtocolStrategy,
  replies: readonly FakeReply[],
  tools: Readonly<Record<string, FakeTool>>,
  { config, ...given }: Given = {},
) {
  const adapter = createFakeAdapter(replies, { structuredOutput: true });
  const toolRegistry = createFakeToolRegistry(tools);
  const traceService = createFakeTrace();
  const context = createProtocolContext({
    adapter,
    toolRegistry,
    traceService,
    config: resolveProtocolConfig(config),
    ...given,
  });
  const events = await collect(protocol.executeStreaming(context));
  adapter.assertConsumed();
  const outcome = outcomeOf(events);
  expectValidHistory([...context.messages, ...outcome.appended]);
  const results = events.flatMap((event) => (event.type === 'tool_result' ? [event.result] : []));
  const codes = results.map((result) => (result.success ? 'ok' : result.error.code));
  const { turnState: state } = context;
  return { adapter, toolRegistry, traceService, context, state, events, outcome, results, codes };
}
