import type { Clock } from '@orion/contracts';

/** Whether `work` came to its end within that time. What it rejects with is its owner's business. */
export function endsWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(milliseconds, () => {
      resolve(false);
    });
    const end = (): void => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}
