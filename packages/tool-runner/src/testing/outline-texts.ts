import { OrionError, systemClock } from '@orion/contracts';
import type { TextExcerpt } from '@orion/contracts';

import { outline, OUTLINE_LIMITS, sourcesAmong } from '../definitions/outline.ts';
import type { Outline, OutlineLimits } from '../definitions/outline.ts';

/** The outline of these texts by their paths. No limit of time but what is given: a test machine may be busy. */
export function outlineTexts(
  texts: ReadonlyMap<string, string>,
  limits: Partial<OutlineLimits> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Outline> {
  const readText = async (path: string): Promise<TextExcerpt> => {
    const content = texts.get(path);
    if (content === undefined)
      throw new OrionError({ code: 'FILE_NOT_FOUND', message: `There is no ${path}.` });
    const lines = { firstLine: 1, lastLine: 1, totalLines: 1, truncated: false };
    return { path, content, encoding: 'utf-8', totalBytes: content.length, ...lines };
  };
  return outline(sourcesAmong([...texts.keys()]), {
    workspace: { readText },
    clock: systemClock,
    signal,
    limits: { ...OUTLINE_LIMITS, fileMs: 60_000, totalMs: 60_000, ...limits },
  });
}
