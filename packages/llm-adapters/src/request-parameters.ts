import type { JsonObject, ResponseFormat, SendOptions, ToolDefinition } from '@orion/contracts';

import type { DataOwner } from './provider-data.ts';

type JsonSchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

/** What providers of chat completions take; the others take more. */
const MOST_STOPS = 4;

/** What the requests of one adapter have in common. */
export type RequestDefaults<Quirks> = DataOwner & {
  readonly temperature: number | undefined;
  readonly maxTokens: number;
  readonly quirks: Quirks;
};

/** What a request says beside its messages, whatever the format; what is undefined is not said. */
export type RequestParameters = {
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  /** Never empty. */
  readonly tools: readonly ToolDefinition[] | undefined;
  readonly toolChoice: SendOptions['tool_choice'];
  readonly schema: JsonSchemaFormat | undefined;
  /** Never empty. */
  readonly stop: string[] | undefined;
};

export function requestParameters(
  options: SendOptions,
  defaults: RequestDefaults<{ readonly temperature: 'as-given' | 'never' }>,
): RequestParameters {
  const { tools = [], stop = [], responseFormat } = options;
  return {
    maxTokens: options.max_tokens ?? defaults.maxTokens,
    temperature:
      defaults.quirks.temperature === 'never'
        ? undefined
        : (options.temperature ?? defaults.temperature),
    tools: tools.length === 0 ? undefined : tools,
    // Without tools there is nothing to choose, and servers refuse the choice.
    toolChoice: tools.length === 0 ? undefined : options.tool_choice,
    stop: stop.length === 0 ? undefined : stop.slice(0, MOST_STOPS),
    schema: responseFormat?.type === 'json_schema' ? responseFormat : undefined,
  };
}

/** A schema as OpenAI's formats name it. */
export function namedSchema({ name, schema, strict = true }: JsonSchemaFormat): {
  name: string;
  schema: JsonObject;
  strict: boolean;
} {
  return { name, schema, strict };
}
