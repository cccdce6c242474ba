import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Texts of a package by their path from the root of the repository, sorted. */
export type Sources = {
  readonly package: string;
  readonly code: ReadonlyMap<string, string>;
  readonly tests: ReadonlyMap<string, string>;
};

export function readSources(root: string, name: string): Sources {
  const files = globSync(`{packages,apps}/${name}/src/**/*.ts`, { cwd: root }).toSorted();
  if (files.length === 0) throw new Error(`There is no package ${name}`);
  const read = (wanted: readonly string[]): ReadonlyMap<string, string> =>
    new Map(wanted.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const isTest = (file: string): boolean => file.endsWith('.test.ts');
  const isOfTime = (file: string): boolean => file.endsWith('.cost.test.ts');
  const isHelper = (file: string): boolean => file.includes('/testing/');
  return {
    package: name,
    code: read(files.filter((file) => !isTest(file) && !isHelper(file))),
    // A test of time says as much about a busy machine as about a mutant.
    tests: read(files.filter((file) => (isTest(file) && !isOfTime(file)) || isHelper(file))),
  };
}
