import { counted } from '../ui/format.ts';

export type StatusCounts = {
  readonly running: number;
  readonly pending: number;
  readonly unfinished: number;
};

/** What there is: three times nothing would take the lines of a phone from what is there. */
export function statusWords(
  contact: string,
  { running, pending, unfinished }: StatusCounts,
): string {
  return [
    contact,
    ...(running === 0 ? [] : [counted(running, 'running turn')]),
    ...(pending === 0 ? [] : [counted(pending, 'pending approval')]),
    ...(unfinished === 0 ? [] : [counted(unfinished, 'unfinished write')]),
  ].join(' · ');
}
