import { isCount, parseFields } from '@orion/contracts';
import type { Fields } from '@orion/contracts';
import { hasShape, isText, isTime, matching, oneOf } from '../shape.ts';
import type { Shape } from '../shape.ts';

/** The owner of a session or lock, as stored in `lease.json`, lock files and claims. */
export type OwnerRecord = {
  readonly version: 1;
  readonly pid: number;
  readonly host: string;
  /** Process ids are unique only within a namespace. Empty where there are none. */
  readonly pid_namespace: string;
  /** Boot and start time. Together with the pid they identify one process, even if pids are reused. */
  readonly process_started_at: string;
  /** Identifies this ownership; never reused. */
  readonly token: string;
  /** ISO-8601, UTC. */
  readonly heartbeat_at: string;
  /** The owner has released it. */
  readonly released?: true;
};

const OWNER: Shape<Omit<OwnerRecord, 'pid_namespace' | 'released'>> = {
  version: oneOf(1),
  pid: (value) => isCount(value) && value > 0,
  host: isText,
  process_started_at: isText,
  token: matching(/^[0-9a-f]{32}$/u),
  heartbeat_at: isTime,
};

/** Null unless the record is complete. */
export function parseOwner(fields: Fields | null): OwnerRecord | null {
  if (!hasShape(fields, OWNER)) return null;
  const { pid, host, pid_namespace: namespace, process_started_at, token, heartbeat_at } = fields;
  return {
    version: 1,
    pid,
    host,
    pid_namespace: typeof namespace === 'string' ? namespace : '',
    process_started_at,
    token,
    heartbeat_at,
    ...(fields['released'] === true ? { released: true as const } : {}),
  };
}

export function parseOwnerText(text: string): OwnerRecord | null {
  return parseOwner(parseFields(text));
}
