import type { JsonObject, Tool, ToolContext, ToolOutput } from '@orion/contracts';
import { z } from 'zod';
import { argumentsDoNotFit } from './misfit.ts';

export type ToolSpecification<Shape extends z.ZodRawShape> = Pick<
  Tool,
  'effect' | 'inPlanMode' | 'pollable' | 'timeoutMs' | 'maxArgumentBytes' | 'summarize'
> & {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject<Shape>;
  /**
   * What becomes of arguments that the schema does not name: `refuse` makes them an error (the default),
   * `ignore` leaves them out and names them in the result's details, `pass` hands them to the tool.
   */
  readonly unknownKeys?: 'refuse' | 'ignore' | 'pass';
  readonly execute: (
    args: z.output<z.ZodObject<Shape>>,
    context: ToolContext,
  ) => Promise<ToolOutput>;
};

/**
 * Defines a tool from a zod schema. The schema is sent to the provider, validates arguments, and fills in defaults
 * both for runs and for signatures.
 */
export function defineTool<Shape extends z.ZodRawShape>({
  name,
  description,
  schema: given,
  unknownKeys = 'refuse',
  execute,
  ...traits
}: ToolSpecification<Shape>): Tool {
  const schema = { refuse: given.strict(), pass: given.loose(), ignore: given.strip() }[
    unknownKeys
  ];

  const parse = (args: JsonObject): z.output<z.ZodObject<Shape>> => {
    const checked = schema.safeParse(args);
    if (!checked.success) throw argumentsDoNotFit(name, checked.error.issues.map(issueOf));
    return checked.data as z.output<z.ZodObject<Shape>>;
  };

  return {
    ...traits,
    definition: { name, description, parameters: parametersOf(schema) },
    checksArguments: true,
    normalize: (args) => parse(args) as JsonObject,
    async execute(args, context) {
      const output = await execute(parse(args), context);
      if (unknownKeys !== 'ignore') return output;
      const ignored = Object.keys(args).filter((key) => !Object.hasOwn(given.shape, key));
      if (ignored.length === 0) return output;
      return { ...output, details: { ...output.details, ignored_arguments: ignored } };
    },
  };
}

function issueOf({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}

/** JSON Schema of the input, without the `$schema` keyword, as providers accept it. */
function parametersOf(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  const { additionalProperties, ...rest } = parameters;
  return (additionalProperties === false ? parameters : rest) as JsonObject;
}
