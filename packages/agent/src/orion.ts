import type {
  AnswerWord,
  Approval as StoredApproval,
  CleanReport,
  Clock,
  CompleteAttempt,
  DecideRequest,
  ErrorCode,
  FileList,
  KeysInUse,
  LlmAdapter,
  Mode,
  PausedSession,
  PlanReport,
  ProtocolConfig,
  ProtocolName,
  ProtocolStrategy,
  RecordedChange,
  RunEvent,
  SessionBytes,
  SessionListing,
  StoredToolOutput,
  Tool,
  ToolAction,
  TraceEvent,
  TraceStore,
  TurnClaim,
  UndoReport,
  UndoRequest,
  Workspace,
  WorkspaceServerFiles,
} from '@orion/contracts';
import type { ChangeProposal, ChangeReviewer } from '@orion/core';
import type { Approval } from '@orion/tool-runner';
import type { McpServer } from '@orion/tool-runner/mcp';
import type { ForeignStore, Store } from '@orion/trace-store';

import type { Settings } from './config/settings.ts';
import type { ContextReport } from './context/context-report.ts';
import type { Instructions } from './context/instructions.ts';
import type { Attachment } from './mentions/attachments.ts';
import type { PromptHistory } from './prompts/prompt-history.ts';
import type { QueuedPrompts } from './prompts/queued-prompts.ts';
import type { OutputQuestion } from './store/ask-output.ts';
import type { WriteSessions } from './write-sessions/write-sessions.ts';

/** Which provider answers, and how it is reached. */
export type ProviderOptions = {
  /**
   * `openai` (any chat-completions server), `openai-responses`, `anthropic` or `scripted`; also a model alias such
   * as `deepseek`. Left out: the provider of the session that is recovered, else `openai`.
   */
  readonly type?: string;
  readonly model?: string;
  /** Needed only without a base URL of one's own. */
  readonly apiKey?: string;
  /** Keys by provider, for a recovery whose session names the provider; `apiKey` is for `type`. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly baseUrl?: string;
  /** For `scripted`: the script's JSON text. */
  readonly script?: string;
};

/** How a provider is named in `turn.json`; never a key. */
export type ProviderIdentity = {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
};

export type OrionOptions = {
  /** The folder that a turn may read and write. */
  readonly workspace: string;
  /**
   * Needed for turns and for recovering a session, not for listing, cleaning or finalizing. A function is asked
   * before the first request of each turn, and another answer is another provider from then on: `session` is what the
   * recovered session was begun with, null for a new turn.
   */
  readonly provider?: ProviderOptions | ((session: ProviderIdentity | null) => ProviderOptions);
  /** An adapter of one's own, instead of `provider`. */
  readonly adapter?: LlmAdapter;
  /** The protocol of turns that name none: one of those that exist, or one of one's own. */
  readonly protocol?: ProtocolName | ProtocolStrategy;
  /** What limits a protocol of one's own, by its name; those of `settings` are what limits the others. */
  readonly limits?: ProtocolConfig['limits'];
  /** The project of what names none. To be given where several of these share a store that was passed in. */
  readonly projectId?: string;
  /** Why this protocol was chosen; reported in `done` and in the trace. */
  readonly protocolReason?: string;
  /**
   * A folder of this user outside of every workspace. It keeps the key that distinguishes the user's own sessions from
   * those that came with a workspace. Without it they cannot be distinguished, and no start reverts what a plan had
   * changed when its process died.
   */
  readonly userDirectory?: string;
  /**
   * Who approves each change of a file, by sessions and plans alike: no approval is needed (`auto`, the default, since
   * every change can be undone), a reviewer decides, or none is given (`never`). A session without approval is paused.
   *
   * `ask`: a turn of `runOwnedTurn` stores its questions, those about commands and tools too, and waits up to 24 hours
   * for an answer in `approvals`, whoever owns it then. What no such turn does is approved, but for protected paths.
   */
  readonly approve?: 'auto' | 'never' | 'ask' | ChangeReviewer;
  /**
   * Asks a person about a protected path (`.env`, `.git/**`, `package.json` …) that `settings.allowPaths` does not
   * name. Left out: such a write is refused with PROTECTED_PATH, but for `package.json` and lockfiles.
   */
  readonly confirmProtectedPath?: (path: string, rule: string) => Promise<boolean>;
  /** Lets a model run shell lines in the workspace; left out, it cannot. */
  readonly commands?: CommandOptions;
  /** Servers whose tools are offered, started by the first turn; left out, there are none. */
  readonly mcp?: McpOptions;
  /** Asks a person about a shell line or an MCP tool that the settings do not allow. Left out: it is refused. */
  readonly reviewAction?: (action: ToolAction, signal: AbortSignal) => Promise<Approval>;
  /** Offered beside the built-in tools. One whose name is taken, or whose schema cannot be used, is left out. */
  readonly tools?: readonly Tool[];
  /** What differs from the defaults. */
  readonly settings?: Partial<Settings>;
  readonly clock?: Clock;
  /** A workspace of one's own, instead of the one on disk. */
  readonly createWorkspace?: () => Promise<Workspace>;
  readonly traceStore?: TraceStore;
  /**
   * Where conversations, traces and the turn log are kept: `memory` for as long as this object lives, or a store of
   * one's own. Left out: the database that `settings.databaseUrl` names, else `orion.db` in the state directory.
   */
  readonly store?: 'memory' | Store;
  /** `false` for those who only read: a store that is not there is then not made, and reads as an empty one. */
  readonly createStore?: boolean;
  /** Exports turns as spans with the gen_ai attributes, without prompts, answers and arguments. Off when left out. */
  readonly telemetry?: TelemetryOptions;
  /**
   * Called before each wait, in milliseconds, after which a provider is asked again because it failed with this code;
   * must not throw.
   */
  readonly onRetry?: (retry: { readonly waitMs: number; readonly code: ErrorCode }) => void;
  /** Called with every trace event as it is recorded; must not throw. */
  readonly onTrace?: (event: TraceEvent) => void;
};

/** What commands of a model see of this machine. */
export type CommandOptions = {
  /** Their whole environment; `PATH` is also where a sandbox is looked for. */
  readonly environment: Readonly<Record<string, string>>;
  /** Below it a sandbox hides the usual places of keys; null when there is none. */
  readonly home: string | null;
};

/** Servers that speak the Model Context Protocol. */
export type McpOptions = {
  readonly servers: readonly McpServer[];
  /** All that a program sees but the variables of its entry. */
  readonly environment: Readonly<Record<string, string>>;
  /** Keys that servers are given, to be redacted. */
  readonly secrets?: readonly string[];
};

export type TurnRequest = {
  readonly projectId?: string;
  /** Continues a stored conversation, or names a new one. */
  readonly conversationId?: string;
  readonly content: string;
  /** What the content names, as `readMentions` found it: the model reads it after the content. */
  readonly attachments?: readonly Attachment[];
  readonly mode?: Mode;
  /** Pins the protocol of this turn, as a route of its own does. Unknown names are PROTOCOL_UNSUPPORTED. */
  readonly protocol?: string;
  /** Who approves changes in this turn, instead of `approve` of the options. */
  readonly approve?: OrionOptions['approve'];
  /** What a client says about its request; `protocol` in it counts when `protocolOverrideEnabled` is set. */
  readonly metadata?: { readonly [key: string]: unknown };
  /** Aborting cancels the turn: an open write session is saved and paused. */
  readonly signal?: AbortSignal;
  /** Recovers this session first; `content` may then be empty, or is the next user message after the commit. */
  readonly recover?: string;
};

/** What is asked for in a turn that this process has acquired from the turn log. */
export type OwnedTurnRequest = Omit<TurnRequest, 'recover'> & {
  /**
   * Aborting gives the turn up without ending it: all is saved, an open write session is left recoverable, and the
   * events end without a `done`, so that another owner can continue. `signal`, in contrast, cancels the turn.
   */
  readonly handOff?: AbortSignal;
  /** Called in the transaction that ends the turn, for the queue that has handed it out. */
  readonly complete?: CompleteAttempt;
  /** Called with true when the turn begins to wait for a person, and with false when it goes on. Must not throw. */
  readonly onRest?: (isResting: boolean) => void;
};

/** Which request is meant: the next one of this conversation, or of a new one. */
export type ContextRequest = {
  readonly conversationId?: string;
  readonly mode?: Mode;
  /** What the person is about to send. */
  readonly content?: string;
};

export type RecoverRequest = {
  readonly sessionId: string;
  /** As in a turn. */
  readonly approve?: OrionOptions['approve'];
  readonly signal?: AbortSignal;
};

export type FinalizeRequest = {
  readonly sessionId: string;
  /** As in a turn. */
  readonly approve?: OrionOptions['approve'];
  /** Answers the question where the file ends: before this line, counted from 1. */
  readonly endAt?: number;
  /** Answers an open question; a session that waits names the answers that it takes. */
  readonly answer?: AnswerWord;
  /** What to do when the target was changed since begin. */
  readonly onConflict?: 'overwrite' | 'keep-both';
  readonly signal?: AbortSignal;
};

export type FoundConversation = {
  readonly conversationId: string;
  readonly projectId: string;
  /** A write session that a turn of it left open. */
  readonly openSessionId: string | null;
};

/** What people decide about the turns of a workspace. */
export type ApprovalCalls = {
  /**
   * Decides, once: rejects with APPROVAL_DECIDED after that, and with APPROVAL_STALE if the hash is not that of the
   * action, or a file is not any more as it was shown; of a write the turn then asks anew.
   */
  decide(approvalId: string, decision: DecideRequest): Promise<StoredApproval>;
};

/** One file of a change. The lines come from models and files and are not escaped. */
export type ChangedFileDiff = {
  readonly target_file: string;
  readonly diff: AsyncIterable<string> | null;
};

/** The tools of a turn in ACT mode. */
export type ToolListing = {
  readonly tools: readonly {
    /** As a model names it. */
    readonly name: string;
    readonly description: string;
    readonly effect: 'read' | 'write';
    /** The MCP server that it comes from; null: it is Orion's, or one of `OrionOptions.tools`. */
    readonly server: string | null;
  }[];
  /** A sentence about each MCP server and tool that cannot be offered. */
  readonly leftOut: readonly string[];
};

/** Where turns go as spans: an OpenTelemetry collector that takes OTLP over HTTP. */
export type TelemetryOptions = {
  /** Whole, as in `http://localhost:4318/v1/traces`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For one request; 10,000 when left out. */
  readonly timeoutMs?: number;
  /** Attributes of the resource; `service.name` is `orion` when left out. */
  readonly resource?: Readonly<Record<string, string>>;
};

/** What the store lacks for good: a store that fails ends no turn. */
export type NotStored = {
  /** Events of turns that the turn log lacks. */
  readonly turnEvents: number;
  /** Conversations that are not stored as they were left. */
  readonly conversations: number;
  readonly traceEvents: number;
  /** Spans that a collector did not take; 0 without one. */
  readonly spans: number;
};

export type PlanRequest = {
  /** Judges the plan and changes nothing; the report has the diffs. Also a key of the plan itself. */
  readonly dryRun?: boolean;
  /** Instead of `approve` of the options. */
  readonly approve?: OrionOptions['approve'];
  /**
   * Asked besides, right before the first change: whether these are the changes that somebody has seen. If not, nothing
   * changes and the promise rejects with APPROVAL_STALE.
   */
  readonly isExpected?: (changes: readonly ChangeProposal[]) => boolean;
  readonly signal?: AbortSignal;
};

/**
 * The runtime. Every method that returns events is an async iterable whose last event is `done`; returning early
 * aborts the turn. Methods reject with `OrionError` for what a user can cause before a turn has begun.
 */
export interface Orion {
  /**
   * One turn of a conversation. Its history is stored, with receipts in place of what was written. A conversation has
   * one turn at a time: until the `done` of the first, or the return of its reader, another one, a recovery included,
   * rejects with CONVERSATION_BUSY.
   */
  runTurn(request: TurnRequest): AsyncIterable<RunEvent>;
  /**
   * Runs a turn that this process has acquired, from where its last owner left it; `requestId` is the id of the turn.
   * Its events are numbered from the claim on. It waits for its store rather than drop an event. Rejects with FENCED,
   * TURN_FINISHED or TURN_LOG_GAP, without any further effect, once the turn belongs to another owner, and with
   * SESSION_BUSY if an earlier owner still holds its write session after 12 s. Closing this object hands it off.
   */
  runOwnedTurn(claim: TurnClaim, request: OwnedTurnRequest): AsyncIterable<RunEvent>;
  /**
   * The files and folders that a prompt names with `@path`, in the order of their names. A name that leads to nothing is
   * text; what is there but cannot be attached has a summary that says why. Rejects when it is aborted.
   */
  readMentions(prompt: string, signal?: AbortSignal): Promise<readonly Attachment[]>;
  /** What the next turn tells the model to follow: the user's own `AGENTS.md`, then that of the workspace. */
  readInstructions(): Promise<readonly Instructions[]>;
  /**
   * What the next request of a conversation holds, put together as a turn does it and sent nowhere. MCP servers are
   * started if no turn has done so. Rejects like a turn without a usable provider.
   */
  describeContext(request?: ContextRequest): Promise<ContextReport>;
  /** The files of the workspace, as a model is shown them: sorted, without ignored ones. */
  listFiles(): Promise<FileList>;
  /** What was typed in this workspace. */
  readonly promptHistory: PromptHistory;
  readonly queuedPrompts: QueuedPrompts;
  /** Continues an interrupted write session; ends after its commit, pause or abort. */
  recoverSession(request: RecoverRequest): AsyncIterable<RunEvent>;
  /** Writes what a session has saved, without a model. */
  finalizeSession(request: FinalizeRequest): AsyncIterable<RunEvent>;
  /**
   * Runs a write plan in its JSON form: all of it is judged before anything changes. Rejects with INVALID_PLAN; an
   * operation that fails is in the report.
   */
  applyPlan(plan: unknown, request?: PlanRequest): Promise<PlanReport>;
  /**
   * Answers a question about a stored output, or about a document, as the tools `tool_outputs.*` do, as a JSON text
   * of any length. Rejects with what they would report to the model.
   */
  askOutput(question: OutputQuestion): Promise<string>;
  /** Keeps a JSON document, or any other text, as an output that every conversation of this project can ask. */
  storeOutput(text: string, name: string): Promise<StoredToolOutput>;
  /**
   * The conversation that a turn would continue: the one with that id, or the latest of a project. Null when there is
   * none; rejects with STORE_UNAVAILABLE if the store does not answer within a second.
   */
  findConversation(
    which: { readonly conversationId: string } | { readonly projectId: string },
  ): Promise<FoundConversation | null>;
  /** What a model would be offered now. Starts the MCP servers, as a turn does. */
  listTools(signal: AbortSignal): Promise<ToolListing>;
  /** All sessions, newest first; or only those that a start offers to recover. */
  listSessions(which?: 'all' | 'recoverable'): Promise<readonly SessionListing[]>;
  /** What sessions have written since this object was made. */
  countSessionBytes(): SessionBytes;
  cleanSessions(options: { readonly all: boolean }): Promise<CleanReport>;
  /**
   * Makes a session of a text that was saved in the temporary folder (`PausedSession.rescued_text`) and answers its id, with
   * which this object recovers or finalizes it.
   */
  adoptSession(file: string): Promise<string>;
  discardSession(sessionId: string): Promise<{ readonly attic: string }>;
  /** The changes that `undo` can take back, newest first. They are read as they are asked for. */
  changes(): AsyncIterable<RecordedChange>;
  /**
   * What a change did, file by file, as lines of a unified diff; null where the bytes before or after it are gone.
   * Rejects with CHANGE_NOT_FOUND.
   */
  diffChange(id: string): Promise<readonly ChangedFileDiff[]>;
  /** Gives every file of a change its previous bytes back; see `Workspace.undo` for what it rejects with. */
  undo(request?: UndoRequest): Promise<UndoReport>;
  /** What turns wait for that were begun with `approve: 'ask'`. */
  readonly approvals: ApprovalCalls;
  /** Write sessions whose text a program uploads. */
  readonly writeSessions: WriteSessions;
  /** The saved text of a session, whatever its condition. */
  readSession(sessionId: string): AsyncIterable<Uint8Array>;
  /** Moves old orphans to the attic and tidies up; every start of a command that may write calls it. */
  housekeep(): Promise<CleanReport>;
  /** What a server keeps in the state directory: its token, and where it listens. */
  readonly serverFiles: WorkspaceServerFiles;
  /** The keys in use, which no event, record or error contains. Whoever has a secret of its own adds it. */
  readonly keys: Pick<KeysInUse, 'add' | 'redact'>;
  /** Describes a paused session to a person, with the commands that continue it. */
  describeSession(listing: SessionListing): PausedSession;
  /** The name of the protocol in use: that of the latest turn, before the first one that of the options. */
  getCurrentProtocol(): string;
  /** The name of the protocol that such a turn would have. Throws PROTOCOL_UNSUPPORTED. */
  protocolOf(request: Pick<TurnRequest, 'protocol' | 'metadata'>): string;
  /** Its root, absolute, with links resolved. */
  readonly workspace: string;
  /** Where sessions, locks and backups are. */
  readonly stateDirectory: string;
  /** The project of a turn that names none. */
  readonly projectId: string;
  /** Whether write sessions are in the store, where processes without this state directory find them. */
  readonly sharesSessions: boolean;
  /** Whether other workspaces may keep theirs in the same store. */
  readonly sharesStore: boolean;
  /**
   * The durable records, opened by their first use. Their methods reject with STORE_UNAVAILABLE or STORE_TOO_NEW;
   * turns go on without them.
   */
  readonly store: Store;
  /**
   * A database in the place of the store that is not this user's, or that others could change; turns use a store in
   * memory instead. Null when there is none.
   */
  findForeignStore(): Promise<ForeignStore | null>;
  /** Makes it this user's, with all that is in it. Rejects with STORE_FOREIGN for what no store is. */
  adoptStore(): Promise<void>;
  readonly traces: TraceStore;
  /** What was lost on the way into the store; final after `close`. Files and write sessions are not part of it. */
  notStored(): NotStored;
  /** A notice for the person that came too late for any turn, given once; null if there is none (left). */
  takeNotice(): string | null;
  /** Saves and releases what is open, ends what runs. May be called twice. */
  close(): Promise<void>;
}
