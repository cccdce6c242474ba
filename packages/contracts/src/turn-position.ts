/**
 * Where a reader of a turn is: behind the event `seq`, which the owner `epoch` stored. Without an epoch (null) a reader
 * knows only the number; 0 is the beginning.
 */
export type TurnPosition = { readonly seq: number; readonly epoch: number | null };

const EVENT_ID = /^(0|[1-9]\d{0,15})(?:\.([1-9a-z][0-9a-z]{0,10}))?$/u;
const BASE = 36;

/** The id of an event in a stream: `<seq>.<epoch in base 36>`. */
export function formatEventId({
  seq,
  epoch,
}: {
  readonly seq: number;
  readonly epoch: number;
}): string {
  return `${seq}.${epoch.toString(BASE)}`;
}

/** What a reader sends back to resume: such an id, or a number alone. Null if it is neither. */
export function parseEventId(text: string): TurnPosition | null {
  const match = EVENT_ID.exec(text);
  if (match === null) return null;
  const [, number = '', owner] = match;
  const position = {
    seq: Number(number),
    epoch: owner === undefined ? null : Number.parseInt(owner, BASE),
  };
  return Number.isSafeInteger(position.seq) && Number.isSafeInteger(position.epoch ?? 0)
    ? position
    : null;
}

/**
 * Whether a reader may continue where it is. `epochAt` is the epoch of the event with that number, or null if the log
 * has none. A reader who does not fit has read what is no longer true: it forgets the turn and begins again.
 */
export function fitsLog({ seq, epoch }: TurnPosition, epochAt: number | null): boolean {
  if (seq === 0) return true;
  return epochAt !== null && (epoch === null || epoch === epochAt);
}
