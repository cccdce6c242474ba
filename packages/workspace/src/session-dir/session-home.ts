/**
 * The directory of a session that this process owns, and the checks that it still does.
 *
 * H1. The directory gets its final name only when its lease and metadata are complete, so a session never appears
 *     without an owner.
 * H2. `requireOwnership` is called before every write. O3 explains why its answer is never wrong once a takeover has
 *     begun.
 * H3. A directory that a person removed during the session is created again. One that was moved to the attic, or
 *     vanished while this process was suspended past its lease, belongs to another owner.
 */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OrionError } from '@orion/contracts';
import type { Clock, SessionMetadata, TurnRecord } from '@orion/contracts';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, systemError } from '../disk/disk-error.ts';
import { createFile, isThere, jsonBytes, removeIfThere, replaceFile } from '../disk/files.ts';
import { HEARTBEAT_MS, LEASE_TTL_MS } from '../ownership/judge-owner.ts';
import { createOwner, leasePlace, replaceOwner, standing } from '../ownership/ownership-file.ts';
import type { OwnerRecord } from '../ownership/owner-record.ts';
import type { TargetLock, TargetLocks } from '../ownership/target-locks.ts';
import type { StateDirectory } from '../state-directory.ts';
import type { SessionKey } from './session-key.ts';
import type { EventSink } from './session-store-options.ts';

export type SessionHomeOptions = {
  readonly clock: Clock;
  readonly state: StateDirectory;
  readonly locks: TargetLocks;
  readonly key: SessionKey | null;
  readonly metadata: SessionMetadata;
  /** The target's current location, with links resolved. */
  readonly targetRealPath: string;
  readonly owner: OwnerRecord;
  readonly onEvent: EventSink;
};

/** `homeless`: the directory does not exist yet or was removed. */
type Stage = 'homeless' | 'settled' | 'lost' | 'left';

export class SessionHome {
  readonly directory: string;
  readonly #options: SessionHomeOptions;
  readonly #onVanished: (cause: Error) => void;
  readonly #lost: AbortController = new AbortController();
  #stage: Stage = 'homeless';
  #lock: TargetLock | null = null;
  #owner: OwnerRecord;
  #cancelHeartbeat: (() => void) | null = null;
  #beating: Promise<void> | null = null;
  #lastBeat: number;

  /** `onVanished` is called when the directory of a live session has vanished. */
  constructor(options: SessionHomeOptions, onVanished: (cause: Error) => void) {
    this.#options = options;
    this.#onVanished = onVanished;
    this.#owner = options.owner;
    this.directory = join(options.state.sessions, options.metadata.session_id);
    this.#lastBeat = options.clock.monotonic();
  }

  isSettled(): boolean {
    return this.#stage === 'settled';
  }

  isLost(): boolean {
    return this.#stage === 'lost';
  }

  /** Aborted when the session is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  pathOf(name: string): string {
    return join(this.directory, name);
  }

  /** Takes over an existing directory from a dead owner. */
  moveIn(lock: TargetLock): void {
    this.#lock = lock;
    this.#stage = 'settled';
    this.#startHeartbeat();
  }

  /**
   * Creates the directory if it does not exist, with a `state.json` that covers no content yet. Rejects with
   * TARGET_LOCKED or the system error.
   */
  async settle(turn: TurnRecord | null, state: string): Promise<void> {
    if (this.#stage !== 'homeless') return;
    const { locks, metadata, targetRealPath } = this.#options;
    const { sessions } = this.#options.state;
    this.#lock ??= await locks.acquire(
      targetRealPath,
      metadata.target.path,
      this.#owner,
      metadata.session_id,
    );
    await this.#options.state.ensure(sessions);
    const draft = join(sessions, `.new-${metadata.session_id}`);
    await rm(draft, { recursive: true, force: true });
    let isNamed = false;
    try {
      await mkdir(draft, { mode: 0o700 });
      this.#owner = this.#freshOwner();
      await createOwner(leasePlace(draft), this.#owner);
      await createFile(join(draft, 'metadata.json'), this.metadataBytes());
      await createFile(join(draft, 'state.json'), Buffer.from(state));
      if (turn !== null) await createFile(join(draft, 'turn.json'), jsonBytes(turn));
      await syncDirectory(draft);
      await rename(draft, this.directory);
      isNamed = true;
      await syncDirectory(sessions);
    } catch (error) {
      if (isNamed) await rename(this.directory, draft).catch(() => undefined);
      await rm(draft, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
    this.#stage = 'settled';
    this.#startHeartbeat();
  }

  /** Rejects if this process must not write here any more. */
  async requireOwnership(): Promise<void> {
    if (this.#stage === 'lost') throw this.lostError();
    if (this.#stage !== 'settled') throw missingDirectory();
    switch (await standing(leasePlace(this.directory), this.#owner.token)) {
      case 'owner':
        return;
      case 'taken_over':
        this.#lose();
        throw this.lostError();
      case 'vanished': {
        if (await this.#wasTakenAway()) {
          this.#lose();
          throw this.lostError();
        }
        this.#stage = 'homeless';
        this.#stopHeartbeat();
        // If the state directory is gone, the lock may be gone, too. It is taken again with the directory.
        await this.freeTarget();
        const cause = missingDirectory();
        this.#onVanished(cause);
        throw cause;
      }
    }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.requireOwnership();
    await replaceFile(this.pathOf(name), bytes);
  }

  /** Releases lease and lock so that any process can recover the session. */
  async giveBack(): Promise<void> {
    await this.#stop();
    // First: whoever finds the session free takes its target, too.
    await this.freeTarget();
    if (this.#stage === 'settled') {
      await this.requireOwnership()
        .then(() => this.markReleased(this.directory))
        .catch(() => undefined);
    }
    if (this.#stage !== 'lost') this.#stage = 'left';
  }

  /** Stops renewing the lease because the directory is about to move. */
  async leave(): Promise<void> {
    await this.#stop();
    if (this.#stage !== 'lost') this.#stage = 'left';
  }

  /**
   * Renames the directory before removing it, so that a half-removed session is never found. Returns false if the
   * directory stays.
   */
  async remove(): Promise<boolean> {
    const { state, metadata } = this.#options;
    const removed = join(state.sessions, `.removed-${metadata.session_id}`);
    try {
      await this.requireOwnership();
      await this.leave();
      // If it stays, it has no owner, and a recovery finds that it is finished.
      await rename(this.directory, removed).catch(async (error: unknown) => {
        await this.markReleased(this.directory).catch(() => undefined);
        throw error;
      });
      await rm(removed, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
      await this.giveBack();
      return false;
    }
  }

  async markReleased(directory: string): Promise<void> {
    this.#owner = { ...this.#freshOwner(), released: true };
    const place = leasePlace(directory);
    try {
      await replaceOwner(place, this.#owner);
    } catch {
      // A full disk takes no record, but lets one go: a session without a lease has no owner either.
      await removeIfThere(place.file);
    }
  }

  async freeTarget(): Promise<void> {
    const lock = this.#lock;
    this.#lock = null;
    await lock?.release().catch(() => undefined);
  }

  lostError(): OrionError {
    return new OrionError({
      code: 'SESSION_BUSY',
      message: 'Another process has taken this write session over.',
      details: { session_id: this.#options.metadata.session_id },
    });
  }

  /** The stored form of the metadata, with this user's MAC. */
  metadataBytes(): Buffer {
    const { key, state } = this.#options;
    const metadata = { ...this.#options.metadata, root: state.root };
    return jsonBytes(key === null ? metadata : { ...metadata, mac: key.sign(metadata) });
  }

  #freshOwner(): OwnerRecord {
    return { ...this.#owner, heartbeat_at: new Date(this.#options.clock.now()).toISOString() };
  }

  #startHeartbeat(): void {
    this.#lastBeat = this.#options.clock.monotonic();
    this.#scheduleHeartbeat();
  }

  #scheduleHeartbeat(): void {
    if (this.#stage !== 'settled') return;
    this.#cancelHeartbeat?.();
    this.#cancelHeartbeat = this.#options.clock.schedule(HEARTBEAT_MS, () => {
      this.#beating = this.#beat().finally(() => {
        this.#beating = null;
        this.#scheduleHeartbeat();
      });
    });
  }

  /** Never rejects. On the same host the process id proves life, and a full disk must not end a session. */
  async #beat(): Promise<void> {
    try {
      await this.requireOwnership();
      this.#owner = this.#freshOwner();
      await replaceOwner(leasePlace(this.directory), this.#owner);
      this.#lastBeat = this.#options.clock.monotonic();
    } catch {
      // `requireOwnership` has already reported a lost session.
    }
  }

  #stopHeartbeat(): void {
    this.#cancelHeartbeat?.();
    this.#cancelHeartbeat = null;
  }

  async #stop(): Promise<void> {
    this.#stopHeartbeat();
    await this.#beating;
    this.#stopHeartbeat();
  }

  #lose(): void {
    if (this.#stage === 'lost') return;
    this.#stage = 'lost';
    this.#stopHeartbeat();
    const { onEvent, metadata } = this.#options;
    onEvent('lease_lost', { session_id: metadata.session_id });
    this.#lost.abort(this.lostError());
  }

  async #wasTakenAway(): Promise<boolean> {
    const { clock, state, metadata } = this.#options;
    const slept = clock.monotonic() - this.#lastBeat >= LEASE_TTL_MS;
    return slept || isThere(join(state.attic, metadata.session_id));
  }
}

function missingDirectory(): Error {
  return systemError('ENOENT', 'the session directory is missing');
}
