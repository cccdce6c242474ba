import type { TraceInput } from '@orion/contracts';

const ARGUMENTS = JSON.stringify({
  path: 'src/components/list/item-list.ts',
  query: 'the quick brown fox jumps over the lazy dog '.repeat(11),
});

/** A tool call as a turn records it: details of about 750 bytes, no two alike, nothing secret. */
export function benchEvent(number: number): TraceInput & { readonly details: object } {
  const turn = Math.floor(number / 200);
  return {
    type: 'tool_call',
    projectId: 'bench',
    requestId: `5c0e7a52-7f7e-4d46-9f6e-${String(turn).padStart(12, '0')}`,
    source: 'protocol:standard',
    cycleIndex: 0,
    phaseIndex: number % 200,
    toolName: 'search_files',
    details: {
      callId: `call_${number}`,
      treatment: 'run',
      state: 'complete',
      arguments: ARGUMENTS,
      argumentsLength: ARGUMENTS.length,
      usage: { inputTokens: 12_345 + number, outputTokens: 67, cachedTokens: 12_000 },
      list: [1, 2, 3],
    },
  };
}
