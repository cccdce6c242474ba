/** Notes a value as the latest one, and forgets those that were noted longest ago above so many. */
export function keepLatest<Value>(
  kept: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  kept.delete(key);
  kept.set(key, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}
