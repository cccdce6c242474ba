/** What differs between servers that all speak chat completions. */
export type Quirks = {
  readonly limitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly temperature: 'as-given' | 'never';
};

type QuirkRow = {
  readonly when: (host: string, model: string) => boolean;
  readonly quirks: Partial<Quirks>;
  readonly reason: string;
};

/** `vendor/model`, as routers name models, counts as `model`. */
const REASONING_MODEL = /^(?:[\w.-]+\/)?(?:o[1-9]\d*|gpt-5)(?!.*-chat)(?:[-.:].*)?$/;

/** Later rows win. What no row knows is learned from the server's own answer (see `refusals.ts`). */
const ROWS: readonly QuirkRow[] = [
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
    when: (_host, model) => REASONING_MODEL.test(model),
    quirks: { limitParameter: 'max_completion_tokens', temperature: 'never' },
    reason: "OpenAI's reasoning models accept only their own temperature, also behind a router.",
  },
];

/** Everything else: the name that every other server knows, and a temperature when one is given. */
const DEFAULTS: Quirks = { limitParameter: 'max_tokens', temperature: 'as-given' };

export function quirksOf(host: string, model: string): Quirks {
  return ROWS.filter((row) => row.when(host, model)).reduce<Quirks>(
    (quirks, row) => ({ ...quirks, ...row.quirks }),
    DEFAULTS,
  );
}
