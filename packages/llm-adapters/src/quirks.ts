/** One difference between servers or models of a wire format, and its reason. */
export type QuirkRow<Quirks> = {
  readonly when: (host: string, model: string) => boolean;
  readonly quirks: Partial<Quirks>;
  readonly reason: string;
};

/** Later rows take precedence. Whatever is missing is learned from the server (see `refused-parameters.ts`). */
export function readQuirks<Quirks extends object>(
  defaults: Quirks,
  rows: readonly QuirkRow<Quirks>[],
  host: string,
  model: string,
): Quirks {
  return rows
    .filter((row) => row.when(host, model))
    .reduce<Quirks>((quirks, row) => ({ ...quirks, ...row.quirks }), defaults);
}

/** OpenAI's reasoning models. `vendor/model`, as routers name models, counts as `model`. */
export const OPENAI_REASONING_MODEL: RegExp =
  /^(?:[\w.-]+\/)?(?:o[1-9]\d*|gpt-5)(?!.*-chat)(?:[-.:].*)?$/;
