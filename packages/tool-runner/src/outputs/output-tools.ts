import { OrionError } from '@orion/contracts';
import type { JsonObject, Tool } from '@orion/contracts';

import { readSchema } from '../registry/schema-document.ts';
import { createSchemaCheck } from '../registry/schema-check.ts';
import { outputOperations } from './output-operations.ts';
import type {
  AskContext,
  OutputAnswer,
  OutputOperation,
  OutputOperationName,
  OutputOptions,
} from './output-operations.ts';

/** The six tools that ask stored outputs (R213). */
export function createOutputTools(options: OutputOptions): readonly Tool[] {
  return outputOperations(options).map((operation) => {
    const { description, parameters, pollable, normalize } = operation;
    return {
      definition: { name: nameOf(operation.operation), description, parameters },
      effect: 'read',
      inPlanMode: true,
      resultMode: 'never',
      ...(pollable === undefined ? {} : { pollable }),
      ...(normalize === undefined ? {} : { normalize }),
      async execute(args, context) {
        const { json, ...more } = await answered(operation, args, context);
        return { result: JSON.parse(json) as JsonObject, ...more };
      },
    };
  });
}

/** Asks as the tools do, for a JSON text. Rejects with what the tool would report to the model. */
export async function askOutputs(
  options: OutputOptions,
  name: OutputOperationName,
  args: JsonObject,
  context: AskContext,
): Promise<string> {
  const operation = outputOperations(options).find(({ operation }) => operation === name);
  if (operation === undefined) throw new Error(`There is no operation ${name}`);
  await createSchemaCheck(nameOf(name), readSchema(operation.parameters), undefined)(args);
  return (await answered(operation, args, context)).json;
}

function nameOf(operation: OutputOperationName): string {
  return `tool_outputs.${operation}`;
}

/** An error names tool, operation, reason and what to do (R212). */
async function answered(
  operation: OutputOperation,
  args: JsonObject,
  context: AskContext,
): Promise<OutputAnswer> {
  try {
    return await operation.answer(args, context);
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    const { code, message, hint, retryable } = error;
    const named = `${nameOf(operation.operation)}: ${message}`;
    throw new OrionError({ code, message: named, hint, retryable });
  }
}
