import { isCount, parseFields } from '@orion/contracts';
import type { Fields } from '@orion/contracts';
import { hasShape, isText, isTime, matching, oneOf } from '../shape.ts';
import type { Shape } from '../shape.ts';

/** Who owns a session or a lock, as it stands in `lease.json`, in lock files and in claims. */
export type OwnerRecord = {
  readonly version: 1;
  readonly pid: number;
  readonly host: string;
  /** Process ids mean something only within one of these; empty where there are none. */
  readonly pid_namespace: string;
  /** Boot and start time: together with the pid this names one process, however often pids are reused. */
  readonly process_started_at: string;
  /** Of this ownership, never used again. */
  readonly token: string;
  /** ISO-8601, UTC. */
  readonly heartbeat_at: string;
  /** The owner gave it back. */
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

/** Null for anything that is not a complete record. */
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
