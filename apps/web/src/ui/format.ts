const NUMBER = new Intl.NumberFormat('en');
const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false });
const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

export const formatCount = (count: number): string => NUMBER.format(count);
export const formatBytes = (bytes: number): string => `${NUMBER.format(bytes)} B`;

/** `3 lines`, `1 line`. */
export const counted = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A span of time in its two largest units. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

export function formatTime(time: number, now: number): string {
  const date = new Date(time);
  return new Date(now).toDateString() === date.toDateString()
    ? CLOCK.format(date)
    : `${DATE.format(date)} ${CLOCK.format(date)}`;
}
