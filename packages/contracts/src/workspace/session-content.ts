import type { TurnFence } from '../conversation-store.ts';

/**
 * Where write sessions are stored that any process of a store may take over: rows, in place of directories.
 *
 * 1. A session has one owner at a time, named by an epoch that never comes again. What carries another one changes
 *    nothing, and neither does anything after the turn of the owner has got another owner.
 * 2. Of the sessions of a target, at most one has an owner. What a turn has begun it keeps, also between two of its
 *    owners, until it is over.
 * 3. A piece is stored where the text ends, or not at all; a repeat finds where it ends by now.
 * 4. A commit that is decided stays decided, whoever owns the session next.
 * 5. How long an owner without a turn was silent is measured by the store's own clock.
 *
 * Rejects with STORE_UNAVAILABLE if the outcome is unknown.
 */
export interface SessionContent {
  /**
   * Null if another session, or another change, holds the target, or another owner has the turn. A turn may repeat it
   * until it appends.
   */
  begin(session: NewStoredSession): Promise<SessionOwner | null>;
  /** Appends to any number of sessions, each of which is in it once. One outcome each, in their order. */
  append(appends: readonly SessionAppend[]): Promise<readonly SessionAppended[]>;
  /** Moves the content behind the text that was set aside, and begins a new one. Null: not the owner any more. */
  startOver(owner: SessionOwner, generation: number, state: string): Promise<TextPlaces | null>;
  /** Stores what is about to be written, or that nothing is. False: not the owner any more, and nothing may be written. */
  decide(owner: SessionOwner, commit: DecidedCommit | null): Promise<boolean>;
  /** Makes the caller the owner of a session that has none, wherever it is. */
  claim(claim: SessionClaim): Promise<ClaimedContent>;
  /** Says that these owners are alive. Resolves to those that own their session no more. */
  confirm(owners: readonly SessionOwner[]): Promise<readonly SessionOwner[]>;
  /** Lets the session go: for the next owner of its turn, or anybody. Nothing happens if it is owned by another one. */
  release(owner: SessionOwner): Promise<void>;
  /** Removes it with everything, after its commit or because it holds nothing. */
  remove(owner: SessionOwner): Promise<void>;
  /** Puts a session away that this owner has, or that nobody has (`null`). False if somebody else has it. */
  putAway(root: string, sessionId: string, owner: SessionOwner | null): Promise<boolean>;
  /** Removes what was put away at least so many milliseconds ago. */
  forget(root: string, olderThanMs: number): Promise<void>;
  find(root: string, sessionId: string): Promise<StoredSession | null>;
  /** Those that were not put away; of them these, if ids are given. */
  list(root: string, sessionIds?: readonly string[]): Promise<readonly StoredSession[]>;
  /** Of all that `list` has. */
  ids(root: string): Promise<readonly string[]>;
  /** A chunk belongs to the caller. */
  read(
    sessionId: string,
    text: SessionTextName,
    start: number,
    end: number,
  ): AsyncIterable<Uint8Array>;
}

export type SessionTextName = 'content' | 'pending' | 'trailing';

export type SessionOwner = { readonly sessionId: string; readonly epoch: number };

/** A text that begins anew has a higher generation. */
export type TextPlace = { readonly generation: number; readonly bytes: number };

export type TextPlaces = { readonly [Text in SessionTextName]: TextPlace };

export type NewStoredSession = {
  readonly sessionId: string;
  /** The workspace. */
  readonly root: string;
  readonly targetKey: string;
  /** Its records as JSON. Null: no session, only a change that holds its target. */
  readonly records: {
    readonly metadata: string;
    readonly state: string;
    readonly turn: string | null;
  } | null;
  /** The turn that owns it; null for one that lives by `confirm`. */
  readonly fence: TurnFence | null;
};

/** A part of a text. It belongs to the store from here on. */
export type SessionPiece = {
  readonly generation: number;
  /** 0 in a new generation. */
  readonly at: number;
  readonly bytes: Uint8Array;
};

export type SessionAppend = {
  readonly owner: SessionOwner;
  readonly pieces: { readonly [Text in SessionTextName]?: SessionPiece };
  /** Replaced together with the pieces. */
  readonly state?: string;
  readonly turn?: string;
};

export type SessionAppended =
  | { readonly kind: 'stored'; readonly places: TextPlaces }
  /** Nothing of it is stored by this call: a text ends elsewhere, as after a repeat. */
  | { readonly kind: 'elsewhere'; readonly places: TextPlaces }
  | { readonly kind: 'fenced' };

export type DecidedCommit = {
  /** Relative to the root. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
  /** The whole record, as JSON. */
  readonly record: string;
};

export type SessionClaim = {
  readonly sessionId: string;
  readonly root: string;
  /** Of its target as it is now. */
  readonly targetKey: string;
  readonly fence: TurnFence | null;
};

export type ClaimedContent =
  | { readonly kind: 'claimed'; readonly owner: SessionOwner; readonly session: StoredSession }
  | { readonly kind: 'missing' }
  /** It has an owner. */
  | { readonly kind: 'busy' }
  /** Another session of its target has one. */
  | { readonly kind: 'held' };

export type StoredSession = {
  readonly sessionId: string;
  readonly metadata: string;
  readonly state: string;
  /** With the messages of its turn; null in a list. */
  readonly turn: string | null;
  /** The record of a commit that is decided. */
  readonly writing: string | null;
  readonly places: TextPlaces;
  /** Of the content, with one that has no end. */
  readonly lines: number;
  readonly lineFeeds: number;
  /** It has an owner, or its turn is not over. */
  readonly isLive: boolean;
  readonly isPutAway: boolean;
  /** Since something was stored, or its owner was last heard of. */
  readonly ageMs: number;
};
