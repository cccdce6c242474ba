/** The part of a body that a request asks for: from `start` up to, but not including, `end`. */
export type ByteRange = { readonly start: number; readonly end: number };

/**
 * Reads the header `Range`. `whole` for none, and for what this server does not divide: several ranges and other units.
 * `beyond` if no byte is in the range.
 */
export function readRange(
  header: string | undefined,
  bytes: number,
): ByteRange | 'whole' | 'beyond' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/u.exec(header?.trim() ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'beyond' : { start: bytes - length, end: bytes };
  }
  const start = Number(first);
  const end = last === '' ? bytes : Math.min(Number(last) + 1, bytes);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= bytes ? 'beyond' : { start, end };
}
