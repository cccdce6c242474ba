import { quotedName } from '@orion/contracts';
import type { JsonObject, RefusedFile } from '@orion/contracts';

/** Which files a tool looks at. Written without zod, like `read_file`. */
export const FILES_PARAMETERS: JsonObject = {
  path: {
    default: '.',
    description: 'A folder or a file, relative to the workspace root',
    type: 'string',
  },
  globs: {
    default: [],
    description:
      'Such as "*.ts" (at any depth), "src/**/*.{ts,tsx}" (relative to path) or "!*.test.ts" (left out)',
    type: 'array',
    items: { type: 'string' },
    maxItems: 20,
  },
};

export type FileArguments = { readonly path: string; readonly globs: readonly string[] };

/** What a model must know about ignore files that did not count. */
export function refusedNotes(refused: readonly RefusedFile[]): readonly string[] {
  return refused.map(({ path, reason }) => `${quotedName(path)} was not used because ${reason}.`);
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
