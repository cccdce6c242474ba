import type { JsonObject, ResponseFormat, SendOptions, ToolDefinition } from '@orion/contracts';

import { toolNamesOf } from './conversation.ts';
import type { DataOwner } from './provider-data.ts';

type JsonSchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

/** The limit of chat completions; other formats accept more. */
const MOST_STOPS = 4;

/** What all requests of an adapter share. */
export type RequestDefaults<Quirks> = DataOwner & {
  readonly temperature: number | undefined;
  readonly maxTokens: number;
  readonly quirks: Quirks;
};

/** The content of a request besides its messages, in any format. Undefined values are not sent. */
export type RequestParameters = {
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  /** By the names that providers accept; never empty. */
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
  const names = toolNamesOf(options);
  return {
    maxTokens: options.max_tokens ?? defaults.maxTokens,
    temperature:
      defaults.quirks.temperature === 'never'
        ? undefined
        : (options.temperature ?? defaults.temperature),
    tools:
      tools.length === 0
        ? undefined
        : tools.map((tool) => ({ ...tool, name: names.toWire(tool.name) })),
    // Without tools, servers refuse a choice.
    toolChoice: tools.length === 0 ? undefined : options.tool_choice,
    stop: stop.length === 0 ? undefined : stop.slice(0, MOST_STOPS),
    schema: responseFormat?.type === 'json_schema' ? responseFormat : undefined,
  };
}

/** A schema as OpenAI's formats embed it. */
export function namedSchema({ name, schema, strict = true }: JsonSchemaFormat): {
  name: string;
  schema: JsonObject;
  strict: boolean;
} {
  return { name, schema, strict };
}
