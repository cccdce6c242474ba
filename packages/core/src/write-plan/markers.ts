/** Finds the only place that a marker matches. */
import { OrionError } from '@orion/contracts';
import type { MarkerType, PatternMatcher } from '@orion/contracts';

import { findPlaces } from './find-literal.ts';
import type { Found, Place } from './find-literal.ts';
import { findPattern } from './find-pattern.ts';
import { countLineFeeds } from './reported-lines.ts';

/** The file to search. `read` starts from the beginning each time. */
export type Searched = {
  readonly path: string;
  readonly read: () => AsyncIterable<Uint8Array>;
  /** All its lines end in CRLF. */
  readonly crlf: boolean;
  readonly bom: boolean;
};

export type MarkerRequest = {
  /** The name of the marker in the plan. */
  readonly name: string;
  readonly text: string;
  readonly type: MarkerType;
};

/** Rejects with MARKER_NOT_FOUND, MARKER_NOT_UNIQUE, MARKER_TIMEOUT or INVALID_OPERATION. */
export async function findMarker(
  searched: Searched,
  marker: MarkerRequest,
  patterns: PatternMatcher,
): Promise<Place> {
  const found = await search(searched, marker, patterns);
  const [place] = found.places;
  if (place === undefined) {
    throw new OrionError({
      code: 'MARKER_NOT_FOUND',
      message: `${marker.name} ${quoted(marker.text)} stands nowhere in ${searched.path}.`,
      details: { marker: marker.name, count: 0, lines: [] },
    });
  }
  if (found.count > 1) {
    const lines = await linesOf(searched, found.places);
    const more = found.count > lines.length ? ' …' : '';
    throw new OrionError({
      code: 'MARKER_NOT_UNIQUE',
      message: `${marker.name} ${quoted(marker.text)} matches ${found.count} places of ${searched.path}, at lines ${lines.join(', ')}${more}.`,
      details: { marker: marker.name, count: found.count, lines },
    });
  }
  return place;
}

/** The lines in which the places begin, counted from 1. */
export async function linesOf({ read }: Searched, places: readonly Place[]): Promise<number[]> {
  const lines: number[] = [];
  for (const { start } of places) lines.push(1 + (await countLineFeeds(read(), start)));
  return lines;
}

async function search(
  searched: Searched,
  marker: MarkerRequest,
  patterns: PatternMatcher,
): Promise<Found> {
  const firstLineStart = searched.bom ? 3 : 0;
  if (marker.type === 'string') {
    return findPlaces(searched.read, needleOf(marker.text, searched.crlf), firstLineStart);
  }
  const pattern = await patterns.open(marker.text);
  try {
    return await findPattern(searched.read(), pattern, firstLineStart);
  } finally {
    await pattern.close();
  }
}

/** In a file of CRLF lines, a line feed in the marker matches a CRLF. */
export function needleOf(text: string, crlf: boolean): Uint8Array {
  return Buffer.from(crlf ? text.replace(/(?<!\r)\n/gu, '\r\n') : text, 'utf8');
}

const SHOWN_MARKER = 80;

/** In one line and of bounded length. */
export function quoted(text: string): string {
  const shown =
    text.length > SHOWN_MARKER ? `${text.slice(0, SHOWN_MARKER).toWellFormed()}…` : text;
  return JSON.stringify(shown);
}
