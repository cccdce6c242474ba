import { OPENAI_REASONING_MODEL, readQuirks } from '../quirks.ts';
import type { QuirkRow } from '../quirks.ts';

/** What differs between models and servers that speak Responses. */
export type ResponsesQuirks = {
  readonly temperature: 'as-given' | 'never';
  /** Says that the answer need not be kept; servers that keep nothing know no such parameter. */
  readonly store: boolean;
  /** Asks for reasoning in a form in which it can go back; models that do not reason refuse to. */
  readonly encryptedReasoning: boolean;
};

const isOpenAi = (host: string): boolean =>
  host.endsWith('openai.com') || host.endsWith('.openai.azure.com');

const DEFAULTS: ResponsesQuirks = {
  temperature: 'as-given',
  store: false,
  encryptedReasoning: false,
};

const ROWS: readonly QuirkRow<ResponsesQuirks>[] = [
  {
    when: isOpenAi,
    quirks: { store: true },
    reason:
      'OpenAI keeps answers for 30 days unless it is told not to; the conversation is kept here.',
  },
  {
    when: (_host, model) => OPENAI_REASONING_MODEL.test(model),
    quirks: { temperature: 'never' },
    reason: "OpenAI's reasoning models accept only their own temperature, also behind a router.",
  },
  {
    when: (host, model) => isOpenAi(host) && OPENAI_REASONING_MODEL.test(model),
    quirks: { encryptedReasoning: true },
    reason:
      'They go on after a tool call with the reasoning before it, and OpenAI keeps none of it.',
  },
];

export function responsesQuirks(host: string, model: string): ResponsesQuirks {
  return readQuirks(DEFAULTS, ROWS, host, model);
}
