import { readQuirks } from '../quirks.ts';
import type { QuirkRow } from '../quirks.ts';

/** What differs between models and servers that speak Messages. */
export type MessagesQuirks = {
  readonly temperature: 'as-given' | 'never';
  /** Marks up to where a prompt is worth keeping; servers that know no such marks refuse or ignore them. */
  readonly cacheMarks: boolean;
  /** The key goes into `x-api-key` too, not only where the SDK puts it. */
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
    reason:
      'Takes what its SDK sends, a bearer token; servers that imitate it know the older header.',
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
    reason: 'They keep prompts by themselves and document cache_control as not supported.',
  },
];

export function messagesQuirks(host: string, model: string): MessagesQuirks {
  return readQuirks(DEFAULTS, ROWS, host, model);
}
