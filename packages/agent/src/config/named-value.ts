import type { OrionError } from '@orion/contracts';

import { configurationError } from './configuration-error.ts';

/** A value, and where it was said: a flag, a variable, a file. */
export type Named<T> = { readonly value: T; readonly source: string };

/** The first that was said. */
export function firstNamed<T>(
  candidates: readonly (readonly [source: string, value: T | undefined])[],
): Named<T> | undefined {
  for (const [source, value] of candidates) {
    if (value !== undefined) return { value, source };
  }
  return undefined;
}

export function invalid({ source, value }: Named<string>, expected: string): OrionError {
  return configurationError(
    `${source}: ${JSON.stringify(value)} must be ${expected}.`,
    `Correct ${source} and start again.`,
  );
}

export function oneOf<Value extends string>(named: Named<string>, values: readonly Value[]): Value {
  const text = named.value.trim().toLowerCase();
  const value = values.find((each) => each === text);
  if (value === undefined) throw invalid(named, `one of ${values.join(', ')}`);
  return value;
}

export function booleanVariable(
  environment: Readonly<Record<string, string>>,
  name: string,
): boolean | undefined {
  const text = environment[name];
  if (text === undefined) return undefined;
  return oneOf({ value: text, source: name }, ['true', 'false']) === 'true';
}

/** How a name such as `projectId` is typed: as a flag, `--project-id`, and as a variable, ORION_PROJECT_ID. */
export function spelled(name: string): { readonly flag: string; readonly variable: string } {
  const words = name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
  return { flag: `--${words}`, variable: `ORION_${words.replaceAll('-', '_').toUpperCase()}` };
}
