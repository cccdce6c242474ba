/** One difference between servers or models of the same wire format, and why it is known. */
export type QuirkRow<Quirks> = {
  readonly when: (host: string, model: string) => boolean;
  readonly quirks: Partial<Quirks>;
  readonly reason: string;
};

/** Later rows win. What no row knows is learned from the server's own answer (see `refused-parameters.ts`). */
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

/** OpenAI's models that think first. `vendor/model`, as routers name models, counts as `model`. */
export const OPENAI_REASONING_MODEL: RegExp =
  /^(?:[\w.-]+\/)?(?:o[1-9]\d*|gpt-5)(?!.*-chat)(?:[-.:].*)?$/;
