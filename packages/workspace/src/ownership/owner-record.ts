import { parseFields } from '@orion/contracts';
import type { Fields } from '@orion/contracts';

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

const TOKEN = /^[0-9a-f]{32}$/u;

/** Null for anything that is not a complete record. */
export function parseOwner(fields: Fields | null): OwnerRecord | null {
  if (fields === null || fields['version'] !== 1) return null;
  const { pid, host, pid_namespace, process_started_at, token, heartbeat_at } = fields;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return null;
  if (typeof host !== 'string' || typeof process_started_at !== 'string') return null;
  if (typeof token !== 'string' || !TOKEN.test(token)) return null;
  if (typeof heartbeat_at !== 'string' || Number.isNaN(Date.parse(heartbeat_at))) return null;
  return {
    version: 1,
    pid,
    host,
    pid_namespace: typeof pid_namespace === 'string' ? pid_namespace : '',
    process_started_at,
    token,
    heartbeat_at,
    ...(fields['released'] === true ? { released: true as const } : {}),
  };
}

export function parseOwnerText(text: string): OwnerRecord | null {
  const fields = parseFields(text);
  return fields === null ? null : parseOwner(fields);
}
