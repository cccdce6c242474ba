import { createHash } from 'node:crypto';
import type { ToolCall, ToolRegistry } from '@orion/contracts';

/** With more characters, its hash stands for a signature. */
const MAX_KEY = 128;

/** By what the state of a turn knows a call: its signature, kept short, since the state is stored often. */
export function callKey(registry: ToolRegistry, call: ToolCall, projectId: string): string {
  const signature = registry.signatureOf(call, projectId);
  if (signature.length <= MAX_KEY) return signature;
  return createHash('sha256').update(signature).digest('base64');
}
