/** The value of a numeric option; anything but a whole number from `least` on ends the process with 2. */
export function readCount(name: string, text: string, least: 0 | 1 = 0): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < least) {
    const from = least === 0 ? '' : ` from ${least}`;
    process.stderr.write(`--${name} must be a whole number${from}, not ${text}\n`);
    process.exit(2);
  }
  return count;
}
