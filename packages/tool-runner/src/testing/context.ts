import type { ToolExecutionContext } from '@orion/contracts';

export const CONTEXT: ToolExecutionContext = {
  projectId: 'p',
  requestId: 'r',
  mode: 'act',
  signal: new AbortController().signal,
};
