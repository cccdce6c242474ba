import type { ProtocolContext } from '@orion/contracts';

/** The objects of a context, and the methods that each must have. */
const NEEDED = {
  adapter: ['sendMessagesStreaming'],
  toolRegistry: ['definitions', 'executeToolCalls', 'signatureOf', 'summarize', 'traitsOf'],
  traceService: ['record'],
  config: [],
  turnState: [],
  clock: ['monotonic', 'schedule'],
  signal: ['addEventListener'],
} as const;

/**
 * Throws a plain `Error` if no protocol can work with the context. That is a bug in the caller, best found before the
 * first model call (R134).
 */
export function validateContext(context: ProtocolContext): void {
  const given: unknown = context;
  if (typeof given !== 'object' || given === null) {
    throw new Error('Protocol context: an object is needed');
  }
  const fields = given as Record<string, unknown>;
  if (!Array.isArray(fields['messages'])) throw missing('messages', 'an array of messages');
  for (const name of ['projectId', 'requestId'] as const) {
    const value = fields[name];
    if (typeof value !== 'string' || value === '') throw missing(name, 'a text that is not empty');
  }
  if (fields['mode'] !== 'plan' && fields['mode'] !== 'act') {
    throw new Error(`Protocol context: unknown mode ${describe(fields['mode'])}; known: plan, act`);
  }
  for (const [name, methods] of Object.entries(NEEDED)) needMethods(fields[name], name, methods);
  if (!Number.isFinite(fields['startedAt'])) throw missing('startedAt', 'a time of the clock');
}

function needMethods(value: unknown, name: string, methods: readonly string[]): void {
  if (typeof value !== 'object' || value === null) throw missing(name, 'an object');
  for (const method of methods) {
    if (typeof (value as Record<string, unknown>)[method] !== 'function') {
      throw new Error(`Protocol context: ${name}.${method} is missing`);
    }
  }
}

function missing(name: string, expected: string): Error {
  return new Error(`Protocol context: ${name} is missing (${expected} is needed)`);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}
