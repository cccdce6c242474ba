import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { test } from './support/test.ts';

/**
 * The public compliance suite for JSONPath (RFC 9535), through the command. ORION_JSONPATH_SUITE names its `cts.json`:
 * https://github.com/jsonpath-standard/jsonpath-compliance-test-suite. `npm run conformance:jsonpath` runs it.
 */
const suite = process.env['ORION_JSONPATH_SUITE'] ?? '';

type Case = {
  readonly name: string;
  readonly selector: string;
  readonly document?: unknown;
  readonly result?: readonly unknown[];
  /** Any of them: the order of members is not defined. */
  readonly results?: readonly (readonly unknown[])[];
  readonly invalid_selector?: boolean;
};

/** A command takes no argument with U+0000 in it, so the system refuses it before Orion can. */
const canBeTyped = ({ selector }: Case): boolean => !selector.includes('\u0000');

const cases: readonly Case[] =
  suite === '' ? [] : (JSON.parse(readFileSync(suite, 'utf8')) as { tests: Case[] }).tests;

describe.skipIf(suite === '')('the compliance suite named by ORION_JSONPATH_SUITE', () => {
  test.concurrent.for(cases.filter(canBeTyped).map((each) => [each.name, each] as const))(
    '%s',
    { timeout: 60_000 },
    async (
      [, { selector, document = null, result, results, invalid_selector: isInvalid }],
      { machine },
    ) => {
      await writeFile(join(machine.workspace, 'case.json'), JSON.stringify(document));
      const ended = await machine.run([
        'outputs',
        'extract',
        '--flatten',
        '--file',
        'case.json',
        `--path=${selector}`,
      ]);
      expect(ended.exitCode, ended.stderr).toBe(isInvalid === true ? 2 : 0);
      if (isInvalid === true) return;
      const { extracted } = JSON.parse(ended.stdout) as { readonly extracted: unknown };
      expect(results ?? [result]).toContainEqual(extracted);
    },
  );
});
