import type { JsonObject, JsonValue, Tool, ToolContext, ToolOutput } from '@orion/contracts';
import { z } from 'zod';
import { invalidArguments } from './schema.ts';

export type ToolSpecification<Shape extends z.ZodRawShape> = {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject<Shape>;
  readonly effect: Tool['effect'];
  /** PLAN mode offers it too. For read tools. */
  readonly inPlanMode?: boolean;
  /** Asked the same again it may answer something else: a repeated call is no duplicate. For read tools. */
  readonly pollable?: boolean;
  /** How long one run may take, in milliseconds; 120,000 when left out. Then its signal is aborted. */
  readonly timeoutMs?: number;
  /**
   * What becomes of arguments that the schema does not name: `refuse` makes them an error (the default),
   * `ignore` leaves them out and names them in the result's details, `pass` hands them to the tool.
   */
  readonly unknownKeys?: 'refuse' | 'ignore' | 'pass';
  readonly maxArgumentBytes?: number;
  readonly execute: (
    args: z.output<z.ZodObject<Shape>>,
    context: ToolContext,
  ) => Promise<ToolOutput>;
  readonly summarize?: (result: JsonValue) => string;
};

/**
 * A tool from a zod schema: the schema is what the provider is told, what arguments are checked against, and
 * what fills in defaults, before a run as well as in a signature.
 */
export function defineTool<Shape extends z.ZodRawShape>(
  specification: ToolSpecification<Shape>,
): Tool {
  const { name, description, effect, unknownKeys = 'refuse', execute } = specification;
  const { inPlanMode, pollable, timeoutMs, maxArgumentBytes, summarize } = specification;
  const known = new Set(Object.keys(specification.schema.shape));
  const schema =
    unknownKeys === 'refuse'
      ? specification.schema.strict()
      : unknownKeys === 'pass'
        ? specification.schema.loose()
        : specification.schema.strip();

  const parse = (args: JsonObject): z.output<z.ZodObject<Shape>> => {
    const checked = schema.safeParse(args);
    if (!checked.success) throw invalidArguments(name, checked.error);
    return checked.data as z.output<z.ZodObject<Shape>>;
  };

  return {
    definition: { name, description, parameters: parametersOf(schema) },
    effect,
    checksArguments: true,
    ...(inPlanMode === undefined ? {} : { inPlanMode }),
    ...(pollable === undefined ? {} : { pollable }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxArgumentBytes === undefined ? {} : { maxArgumentBytes }),
    ...(summarize === undefined ? {} : { summarize }),
    normalize: (args) => parse(args) as JsonObject,
    async execute(args, context) {
      const output = await execute(parse(args), context);
      if (unknownKeys !== 'ignore') return output;
      const ignored = Object.keys(args).filter((key) => !known.has(key));
      if (ignored.length === 0) return output;
      return { ...output, details: { ...output.details, ignored_arguments: ignored } };
    },
  };
}

/** JSON Schema as providers take it: what may be sent, without the dialect's name. */
function parametersOf(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  const { additionalProperties, ...rest } = parameters;
  return (additionalProperties === false ? parameters : rest) as JsonObject;
}
