/** Whether text is printed as it is and nothing is redrawn: asked for, for a screen reader, or by a terminal that can do little. */
export function wantsPlain(
  environment: Readonly<Record<string, string | undefined>>,
  isAskedFor: boolean,
): boolean {
  const accessible = environment['ACCESSIBLE'] ?? '';
  return isAskedFor || !['', '0', 'false'].includes(accessible) || environment['TERM'] === 'dumb';
}
