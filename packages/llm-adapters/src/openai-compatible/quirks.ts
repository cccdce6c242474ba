import { OPENAI_REASONING_MODEL, readQuirks } from '../quirks.ts';
import type { QuirkRow } from '../quirks.ts';

/** How servers of chat completions differ. */
export type Quirks = {
  readonly limitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly temperature: 'as-given' | 'never';
};

const ROWS: readonly QuirkRow<Quirks>[] = [
  {
    when: (host) => host === 'api.openai.com' || host.endsWith('.api.openai.com'),
    quirks: { limitParameter: 'max_completion_tokens' },
    reason:
      'OpenAI has deprecated max_tokens, and its reasoning models refuse it; all its models take the new name.',
  },
  {
    when: (host) => host.endsWith('.openai.azure.com'),
    quirks: { limitParameter: 'max_completion_tokens' },
    reason: 'The same models under another address.',
  },
  {
    when: (_host, model) => OPENAI_REASONING_MODEL.test(model),
    quirks: { limitParameter: 'max_completion_tokens', temperature: 'never' },
    reason: "OpenAI's reasoning models accept only their own temperature, also behind a router.",
  },
];

/** All other servers: the name that they all know, and a temperature if one is set. */
const DEFAULTS: Quirks = { limitParameter: 'max_tokens', temperature: 'as-given' };

export function quirksOf(host: string, model: string): Quirks {
  return readQuirks(DEFAULTS, ROWS, host, model);
}
