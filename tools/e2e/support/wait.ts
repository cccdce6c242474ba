/** Conditions are asked for this often; nothing here waits for a fixed time. */
const INTERVAL_MS = 10;
/** Not how long it takes: what takes a moment alone takes many seconds on a machine that does other work. */
export const LIMIT_MS = 60_000;

/** Waits until `check` answers something; the error names what was waited for when it never does. */
export async function waitFor<T>(
  what: string,
  check: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const found = await check();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`timed out waiting for ${what}`);
    await pause(INTERVAL_MS);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
