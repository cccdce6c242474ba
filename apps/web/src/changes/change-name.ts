import { visibleName } from '@orion/contracts';

/** The random end of an id: enough to tell one change from another in a list. */
const ID_END = 8;

/** A change for somebody who hears its name alone: one file may have been changed many times, to the same bytes, too. */
export function changeName(what: string, changeId: string, time?: string): string {
  const when = time === undefined ? [] : [time];
  return [visibleName(what), ...when, `change ${changeId.slice(-ID_END)}`].join(', ');
}
