import { describe, expect, it } from 'vitest';
import { judgeOwner, LEASE_TTL_MS } from './judge-owner.ts';
import type { OwnerObservation, OwnerVerdict } from './judge-owner.ts';
import type { OwnerRecord } from './owner-record.ts';
import { parseProcStat } from './process-identity.ts';

const NOW = Date.UTC(2026, 0, 1);

function ownerAt(heartbeatAge: number, released = false): OwnerRecord {
  return {
    version: 1,
    pid: 42,
    host: 'here',
    pid_namespace: '',
    process_started_at: 'boot:100',
    token: '0'.repeat(32),
    heartbeat_at: new Date(NOW - heartbeatAge).toISOString(),
    ...(released ? { released: true as const } : {}),
  };
}

const running = (startedAt: string): OwnerObservation => ({
  kind: 'here',
  process: { kind: 'running', startedAt },
  now: NOW,
});
const gone: OwnerObservation = { kind: 'here', process: { kind: 'gone' }, now: NOW };
const unknown: OwnerObservation = { kind: 'here', process: { kind: 'unknown' }, now: NOW };
const elsewhere: OwnerObservation = { kind: 'elsewhere', now: NOW };

describe('judgeOwner', () => {
  it.each<[string, OwnerRecord, OwnerObservation, OwnerVerdict]>([
    ['runs here', ownerAt(0), running('boot:100'), 'live'],
    ['runs here, heart stopped long ago', ownerAt(1e9), running('boot:100'), 'live'],
    ['its pid was reused', ownerAt(0), running('boot:101'), 'dead'],
    ['its pid was reused after a restart', ownerAt(0), running('other:100'), 'dead'],
    ['is gone, heartbeat fresh', ownerAt(0), gone, 'dead'],
    ['cannot be told, heartbeat fresh', ownerAt(0), unknown, 'live'],
    ['cannot be told, heartbeat old', ownerAt(LEASE_TTL_MS), unknown, 'presumed_dead'],
    ['elsewhere, one before the limit', ownerAt(LEASE_TTL_MS - 1), elsewhere, 'live'],
    ['elsewhere, at the limit', ownerAt(LEASE_TTL_MS), elsewhere, 'presumed_dead'],
    ['elsewhere, a minute ahead', ownerAt(-60_000), elsewhere, 'live'],
    ['elsewhere, further ahead', ownerAt(-60_001), elsewhere, 'presumed_dead'],
    [
      'elsewhere, in 2099',
      { ...ownerAt(0), heartbeat_at: '2099-01-01T00:00:00.000Z' },
      elsewhere,
      'presumed_dead',
    ],
    ['cannot be told, far ahead', ownerAt(-1e9), unknown, 'presumed_dead'],
    ['runs here, heartbeat far ahead', ownerAt(-1e9), running('boot:100'), 'live'],
    ['gave it back and runs', ownerAt(0, true), running('boot:100'), 'dead'],
    ['gave it back elsewhere', ownerAt(0, true), elsewhere, 'dead'],
  ])('%s', (_name, owner, seen, verdict) => {
    expect(judgeOwner(owner, seen)).toBe(verdict);
  });
});

describe('parseProcStat', () => {
  const fields = Array.from({ length: 30 }, (_, index) => String(index + 4)).join(' ');

  it.each([
    ['node', 'S', '22'],
    ['a) R (b', 'S', '22'],
    ['node', 'Z', null],
  ])('command %s in state %s', (command, state, started) => {
    expect(parseProcStat(`42 (${command}) ${state} ${fields}`)).toBe(started);
  });
});
