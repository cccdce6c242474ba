import { readQuirks } from '../quirks.ts';
import type { QuirkRow } from '../quirks.ts';

/** How models and servers of the Messages API differ. */
export type MessagesQuirks = {
  readonly temperature: 'as-given' | 'never';
  /** Mark how much of a prompt to cache. Servers without such marks refuse or ignore them. */
  readonly cacheMarks: boolean;
  /** Send the key in `x-api-key` as well as in `authorization`. */
  readonly ownKeyHeader: boolean;
};

const DEFAULTS: MessagesQuirks = {
  temperature: 'as-given',
  cacheMarks: true,
  ownKeyHeader: true,
};

const ROWS: readonly QuirkRow<MessagesQuirks>[] = [
  {
    when: (host) => host === 'api.anthropic.com',
    quirks: { ownKeyHeader: false },
    reason: 'Accepts a bearer token, as its SDK sends; compatible servers expect the older header.',
  },
  {
    when: (_host, model) =>
      /^(?:[\w.-]+\/)?claude-(?:opus-4-[7-9]|(?:opus|sonnet|haiku|fable|mythos)-[5-9])/.test(model),
    quirks: { temperature: 'never' },
    reason: 'These models have a temperature of their own and refuse any other.',
  },
  {
    when: (host) =>
      host === 'api.deepseek.com' || host === 'api.moonshot.ai' || host === 'api.z.ai',
    quirks: { cacheMarks: false },
    reason: 'They cache prompts automatically and document cache_control as unsupported.',
  },
];

export function messagesQuirks(host: string, model: string): MessagesQuirks {
  return readQuirks(DEFAULTS, ROWS, host, model);
}
