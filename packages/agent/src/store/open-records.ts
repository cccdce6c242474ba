import { randomUUID } from 'node:crypto';

import type {
  Clock,
  CompleteAttempt,
  OrionError,
  Redact,
  TraceEvent,
  TraceStore,
  TurnClaim,
  Workspace,
} from '@orion/contracts';
import { defined } from '@orion/contracts';
import {
  adoptStore,
  createOtlpExport,
  createSpanExport,
  findForeignStore,
  openStore,
} from '@orion/trace-store';
import type { ForeignStore, Store, StoreLocation } from '@orion/trace-store';

import type { Settings } from '../config/settings.ts';
import type { NotStored, OrionOptions } from '../orion.ts';
import { ConversationKeeper } from './conversation-keeper.ts';
import type { OwnedTurn, ownedTurns } from './owned-turn.ts';
import { observeConversations, observeTurnLog } from './observed-store.ts';
import { redactTraces } from './redacted-traces.ts';
import { StoreHealth } from './store-health.ts';
import { storeLocation } from './store-location.ts';
import { storeOwner } from './store-owner.ts';
import { TurnJournals } from './turn-journals.ts';
import { untilAborted } from './deadline.ts';

/** How long opening a file may take before a turn continues without it; it only waits for a disk. */
const OPEN_FILE_MS = 250;

/** Everything that a process keeps of its turns, and how it goes there. */
export type Records = {
  readonly store: Store;
  readonly traces: TraceStore;
  readonly conversations: ConversationKeeper;
  readonly journals: TurnJournals;
  /** Writes a turn that this process has acquired. Loaded when it is asked for: a command has none. */
  own(claim: TurnClaim, complete?: CompleteAttempt): Promise<OwnedTurn>;
  /** A notice about the store for the person, given once; null if there is none. */
  takeNotice(): string | null;
  /** The notices that are left when there are no more turns. */
  takeLastNotice(): string | null;
  /** A store in the store's place that is not this user's; null if there is none. */
  findForeignStore(): Promise<ForeignStore | null>;
  /** Makes it this user's. */
  adoptStore(): Promise<void>;
  notStored(): NotStored;
  /** After the last turn. Takes as long as the store is worth; rejects only where traces are strict. */
  close(): Promise<void>;
};

export type RecordsParts = {
  readonly options: OrionOptions;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly workspace: Workspace;
  /** Takes the keys in use out of a text. */
  readonly redact: Redact;
};

/** The store that the options name, or one that is opened here, with all who write to it. Opens nothing yet. */
export function openRecords(all: RecordsParts): Records {
  const { options, settings, clock, workspace, redact } = all;
  const location = storeLocation(options.store, settings, workspace);
  const health = new StoreHealth({
    clock,
    ...(location.kind === 'postgres' ? {} : { openingMs: OPEN_FILE_MS }),
  });
  const telemetry =
    options.telemetry === undefined ? null : createOtlpExport({ clock, ...options.telemetry });
  const onTrace = both(
    options.onTrace,
    telemetry === null ? undefined : createSpanExport(telemetry),
  );
  const given = typeof options.store === 'object' ? options.store : null;
  let refused: string | null = null;
  const onForeign = (error: OrionError): void => {
    refused =
      `${error.message}. ${error.hint} The turn goes on with a store in memory: later turns do not ` +
      'know what was said and done in it.';
  };
  const takeLastNotice = (): string | null => {
    const notice = refused ?? conversations.takeNotice();
    refused = null;
    return notice;
  };
  const parts = { ...all, location, health, onTrace, onForeign };
  const store = given ?? openAt(parts);
  const givenTraces = options.traceStore ?? given?.traces;
  const strict = settings.traceStrict;
  const traces =
    givenTraces === undefined
      ? store.traces
      : redactTraces(givenTraces, { clock, strict, redact, onEvent: onTrace });
  // A store that is opened here reports its own calls; one that was passed in is observed at each call.
  const conversations = new ConversationKeeper({
    store: given === null ? store.conversations : observeConversations(given.conversations, health),
    clock,
    health,
    createId: randomUUID,
    redact,
  });
  const log = given === null ? store.turnLog : observeTurnLog(given.turnLog, health);
  let owned: Promise<ReturnType<typeof ownedTurns>> | null = null;
  const journals = new TurnJournals({
    log,
    clock,
    health,
    onIncomplete: (requestId, dropped) => {
      const details = { dropped };
      traces.record({ type: 'turn_log_incomplete', requestId, source: 'agent', details });
    },
  });

  const closeStore = (): Promise<void> =>
    health.end(async (cut) => {
      await untilAborted(cut, Promise.all([conversations.end(), journals.finish()]));
      journals.abandon();
      try {
        // What was passed in lives on.
        if (given !== null || options.traceStore !== undefined) {
          await untilAborted(cut, traces.flush());
        }
      } finally {
        if (given === null) await store.close(cut);
      }
    });

  return {
    store,
    traces,
    conversations,
    journals,
    async own(claim, complete) {
      owned ??= import('./owned-turn.ts').then(({ ownedTurns }) =>
        ownedTurns({ log, conversations, clock }),
      );
      return (await owned)(claim, complete);
    },
    takeNotice: () => health.takeNotice() ?? takeLastNotice(),
    takeLastNotice,
    async findForeignStore() {
      if (given !== null || location.kind !== 'sqlite') return null;
      return findForeignStore(location.path, await storeOwner(options.userDirectory));
    },
    async adoptStore() {
      const owner = await storeOwner(options.userDirectory);
      if (location.kind === 'sqlite' && owner !== null) await adoptStore(location.path, owner);
    },
    notStored: () => ({
      turnEvents: journals.dropped(),
      conversations: conversations.unsaved(),
      traceEvents: traces.dropped(),
      spans: telemetry?.lost().spans ?? 0,
    }),
    async close() {
      // Both end by their deadlines, and neither waits for the other.
      await Promise.all([telemetry?.close(), closeStore()]);
    },
  };
}

type StoreParts = RecordsParts & {
  readonly location: StoreLocation;
  readonly health: StoreHealth;
  readonly onTrace: TraceObserver | undefined;
  readonly onForeign: (error: OrionError) => void;
};

function openAt(parts: StoreParts): Store {
  const { options, settings, clock, workspace, redact, location, health, onTrace, onForeign } =
    parts;
  const { createStore = true } = options;
  return openStore(location, {
    clock,
    create: createStore,
    wake: settings.wake,
    owner: () => storeOwner(options.userDirectory),
    // A reader gets the error, not an empty store.
    ...(createStore ? { onForeign } : {}),
    prepare: () => workspace.ensureStateDirectory(),
    observe: (attempt, kind) => health.observe(attempt, kind),
    traces: {
      strict: settings.traceStrict,
      redact,
      onFirstDrop: (reason) => health.report(new Error(`traces are dropped: ${reason}`)),
      ...defined({ onEvent: onTrace }),
    },
  });
}

type TraceObserver = (event: TraceEvent) => void;

function both(one?: TraceObserver, other?: TraceObserver): TraceObserver | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (event) => {
    one(event);
    other(event);
  };
}
