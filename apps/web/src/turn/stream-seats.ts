import { MOST_STREAMS } from './stream-policy.ts';

/** The right of this tab to hold a stream open. */
export type StreamSeat = { readonly leave: () => void };

export type StreamSeats = {
  /** Null while this tab has one, or as many tabs as may. Never waits for one to become free. */
  take(): Promise<StreamSeat | null>;
};

/** Seats that all tabs of this page share. A tab that is closed, or dies, leaves its seat. */
export function createStreamSeats(locks: LockManager): StreamSeats {
  let isTaken = false;
  return {
    async take() {
      if (isTaken) return null;
      isTaken = true;
      for (let place = 1; place <= MOST_STREAMS; place += 1) {
        const leave = await takeLock(locks, `orion-stream-${place}`);
        if (leave === null) continue;
        return {
          leave() {
            isTaken = false;
            leave();
          },
        };
      }
      isTaken = false;
      return null;
    },
  };
}

/** Resolves as soon as it is known whether the lock is ours; it is kept until `leave`. */
function takeLock(locks: LockManager, name: string): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) {
          resolve(null);
          return undefined;
        }
        return new Promise<void>((leave) => resolve(leave));
      })
      .catch(reject);
  });
}
