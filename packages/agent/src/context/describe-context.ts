import { createToolRegistry } from '@orion/tool-runner';

import type { ContextRequest } from '../orion.ts';
import { fileTools } from '../turn/file-tools.ts';
import type { TurnDependencies } from '../turn/turn-scope.ts';
import { historyLimit } from './content-messages.ts';
import { contextReport } from './context-report.ts';
import type { ContextReport } from './context-report.ts';
import { systemPromptFacts } from './prompt-facts.ts';
import { systemPromptParts } from './system-prompt.ts';
import type { TokenMeter } from './token-meter.ts';

type Dependencies = Pick<
  TurnDependencies,
  | 'workspace'
  | 'settings'
  | 'readInstructions'
  | 'connect'
  | 'conversations'
  | 'writePlanTool'
  | 'tools'
  | 'patterns'
> & { readonly projectId: string; readonly meter: TokenMeter };

/** Put together as a turn does it, and sent nowhere. */
export async function describeContext(
  dependencies: Dependencies,
  { conversationId, mode = 'act', content = '' }: ContextRequest,
): Promise<ContextReport> {
  const { workspace, settings, connect, conversations, patterns, meter, projectId } = dependencies;
  const { adapter } = await connect(null);
  const { facts } = await systemPromptFacts(dependencies, mode);
  const registry = createToolRegistry(
    [...fileTools(workspace, dependencies.writePlanTool, nothingBegins), ...dependencies.tools],
    { patterns },
  );
  const kept =
    conversationId === undefined ? null : await conversations.find(conversationId, projectId);
  return contextReport({
    ...systemPromptParts(facts),
    tools: registry.definitions(mode),
    history: kept?.history ?? [],
    historyLimit: historyLimit(settings, adapter),
    prompt: content,
    limit: settings.contextTokens ?? adapter.limits?.contextTokens ?? null,
    ratio: meter.ratioOf(adapter.model),
  });
}

function nothingBegins(): never {
  throw new Error('a tool that is only described was called');
}
