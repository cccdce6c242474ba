import { OPENAI_REASONING_MODEL, readQuirks } from '../quirks.ts';
import type { QuirkRow } from '../quirks.ts';

/** How models and servers of the Responses API differ. */
export type ResponsesQuirks = {
  readonly temperature: 'as-given' | 'never';
  /** Send `store: false`. Servers that store nothing do not know the parameter. */
  readonly store: boolean;
  /** Request reasoning in a form that can be returned. Models that do not reason refuse this. */
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
    reason: 'OpenAI stores answers for 30 days by default; the conversation is stored here.',
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
      'They continue after a tool call with the reasoning before it, which OpenAI does not store.',
  },
];

export function responsesQuirks(host: string, model: string): ResponsesQuirks {
  return readQuirks(DEFAULTS, ROWS, host, model);
}
