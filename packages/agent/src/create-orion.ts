import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { defined, systemClock } from '@orion/contracts';
import type { Clock, ToolOutputStore, Workspace } from '@orion/contracts';
import { createWritePlanTool } from '@orion/core';
import { createContentProtocol } from '@orion/protocols';
import type { Traverser } from '@orion/tool-runner';
import { createPatternMatcher, createWorkspace } from '@orion/workspace';
import type { WorkspaceOptions } from '@orion/workspace';

import { ApprovalDesk } from './approvals/approval-desk.ts';
import { approvalOf } from './approvals/approval-policy.ts';
import { protocolConfigOf } from './config/derived-settings.ts';
import { sharedStateOf } from './config/sessions-in-store.ts';
import { DEFAULT_SETTINGS } from './config/settings.ts';
import type { Settings } from './config/settings.ts';
import { describeContext } from './context/describe-context.ts';
import { readAllInstructions } from './context/instructions.ts';
import { TokenMeter } from './context/token-meter.ts';
import { diffChange } from './diff-change.ts';
import { keepHouse } from './housekeeping.ts';
import { readMentions, withAttachments } from './mentions/attachments.ts';
import type { Orion, OrionOptions, TurnRequest } from './orion.ts';
import { planApplier } from './plan-applier.ts';
import { createPromptHistory } from './prompts/prompt-history.ts';
import { createQueuedPrompts } from './prompts/queued-prompts.ts';
import { keysOf, providerConnection } from './provider-connection.ts';
import { openRecords } from './store/open-records.ts';
import { mayBeShared, OWN_PROJECT, projectOf } from './store/store-location.ts';
import { listTools } from './tool-listing.ts';
import { turnProtocols } from './turn-protocol.ts';
import { turnTools } from './turn-tools.ts';
import { describeListed } from './turn/paused-session.ts';
import { newSessionId } from './turn/session-id.ts';
import { TurnAdmission } from './turn/turn-admission.ts';
import type { TurnAdmissionOptions } from './turn/turn-admission.ts';
import type { TurnTask } from './turn/turn-scope.ts';
import { createWriteSessions } from './write-sessions/create-write-sessions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_BYTES = 512 * 1024 * 1024;

/**
 * The composition root: builds every part from the options and hands them to each other. Rejects with an
 * `OrionError` for options that cannot work.
 */
export async function createOrion(options: OrionOptions): Promise<Orion> {
  const clock = options.clock ?? systemClock;
  const settings: Settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const keys = keysOf(options, settings);
  const recordEvent: RecordEvent = (type, details, sessionId = details['session_id']) =>
    traces.record({
      type,
      source: 'workspace',
      projectId,
      ...(typeof sessionId === 'string' ? { sessionId } : {}),
      details,
    });
  const isShared = settings.sessions === 'database';
  const workspace = await openWorkspace(options, settings, {
    clock,
    onEvent: recordEvent,
    ...(isShared
      ? {
          shared: {
            sessions: () => sharedStateOf(records.store).sessions(),
            records: () => sharedStateOf(records.store).records(),
          },
        }
      : {}),
  });
  const records = openRecords({ options, settings, clock, workspace, redact: keys.redact });
  if (isShared) sharedStateOf(records.store);
  const { traces, conversations } = records;
  const sharesStore = options.projectId !== undefined || mayBeShared(settings);
  const projectId = options.projectId ?? (sharesStore ? projectOf(workspace) : OWN_PROJECT);
  const protocols = turnProtocols(options, settings.protocolOverrideEnabled);
  const stop = new AbortController();
  const meter = new TokenMeter();
  const provider = providerConnection(options, settings, clock, keys, meter);
  // Always by the real time: an expression does not wait for a clock.
  const patterns = createPatternMatcher(systemClock);
  const writePlanTool = createWritePlanTool({
    workspace,
    clock,
    createId: newSessionId,
    patterns,
    approval: approvalOf(options.approve),
    eol: settings.eol,
    strict: settings.strict,
    nextTurn: () => nextTurn(),
  });
  const { toolOutputs, approvals } = records.store;
  const desk = new ApprovalDesk(approvals, workspace, clock);
  const tools = turnTools({
    options,
    settings,
    clock,
    workspace,
    toolOutputs,
    redact: keys.redact,
  });
  const shared: TurnAdmissionOptions['shared'] = {
    workspace,
    readInstructions: () => readAllInstructions(workspace, options.userDirectory),
    connect: (defaults) => provider.connect(defaults),
    protocolConfig: protocolConfigOf(settings, options.limits),
    content: (name) => createContentProtocol(protocols.named(name)),
    writePlanTool,
    tools: tools.offered,
    approveCall: tools.approve,
    outputs: tools.outputs,
    patterns,
    settings,
    clock,
    trace: traces,
    conversations,
    keys,
    takeStoreNotice: () => records.takeNotice(),
  };
  const turns = new TurnAdmission({
    projectId,
    protocols,
    journals: records.journals,
    stopSignal: stop.signal,
    connectTools: tools.connect,
    approve: options.approve,
    reviewAction: options.reviewAction,
    approvals,
    desk,
    shared,
  });
  const writeSessions = createWriteSessions({
    workspace,
    writePlanTool,
    turns,
    settings,
    clock,
    record: recordEvent,
  });
  void keepHouse(workspace, clock, traces, stop.signal);
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    stop.abort();
    await Promise.all([turns.settled(), writeSessions.close()]);
    for (const part of [tools, provider, workspace, records]) await part.close();
  };

  return {
    runTurn: (request) => turns.run(messageOf(request), request),
    runOwnedTurn: (claim, request) =>
      turns.runOwned(messageOf(request), request, () => records.own(claim, request.complete)),
    ...promptsOf(shared),
    async describeContext(request = {}) {
      const { tools: connected } = await tools.connect(stop.signal);
      const all = [...shared.tools, ...connected];
      return describeContext({ ...shared, tools: all, projectId, meter }, request);
    },
    recoverSession: (request) =>
      turns.run({ kind: 'recover', sessionId: request.sessionId, decision: null }, request),
    finalizeSession: (request) =>
      turns.run({ kind: 'finalize', sessionId: request.sessionId, decision: request }, request),
    workspace: workspace.root,
    stateDirectory: workspace.stateDirectory,
    projectId,
    sharesSessions: isShared,
    sharesStore,
    store: records.store,
    applyPlan: planApplier({
      writePlanTool,
      traces,
      projectId,
      approve: options.approve,
      stopSignal: stop.signal,
    }),
    ...outputsOf(toolOutputs, tools.traverser, clock, projectId),
    async listTools(signal) {
      const { offered, connect } = tools;
      return listTools({ workspace, writePlanTool, offered }, await connect(signal));
    },
    findConversation: (which) => conversations.look(which),
    ...callsOn(workspace, recordEvent),
    writeSessions,
    approvals: desk,
    serverFiles: workspace,
    keys,
    describeSession: (listing) => describeListed(listing, settings.maxBytes),
    getCurrentProtocol: () => protocols.current(),
    protocolOf: (request) => protocols.nameFor(request),
    traces,
    notStored: () => records.notStored(),
    takeNotice: () => records.takeLastNotice(),
    findForeignStore: () => records.findForeignStore(),
    adoptStore: () => records.adoptStore(),
    close: () => (closed ??= close()),
  };
}

function messageOf(request: TurnRequest): Extract<TurnTask, { kind: 'message' }> {
  const { attachments = [], mode = 'act', recover = null } = request;
  const content = withAttachments(request.content, attachments);
  return { kind: 'message', content, mode, recover };
}

/** What a person is given while a prompt is typed, and what is kept of it. */
function promptsOf({
  workspace,
  readInstructions,
}: TurnAdmissionOptions['shared']): Pick<
  Orion,
  'readInstructions' | 'readMentions' | 'promptHistory' | 'queuedPrompts' | 'listFiles'
> {
  return {
    readInstructions: async () => (await readInstructions()).found,
    readMentions: (prompt, signal) => readMentions(workspace, prompt, signal),
    promptHistory: createPromptHistory(workspace),
    queuedPrompts: createQueuedPrompts(workspace),
    listFiles: () => workspace.listFiles(Number.MAX_SAFE_INTEGER),
  };
}

/** Questions about stored outputs, and storing one: loaded when it is asked for. */
function outputsOf(
  store: ToolOutputStore,
  traverser: Traverser,
  clock: Clock,
  projectId: string,
): Pick<Orion, 'askOutput' | 'storeOutput'> {
  const load = (): Promise<typeof import('./store/ask-output.ts')> =>
    import('./store/ask-output.ts');
  return {
    askOutput: async (question) => (await load()).askOutput({ store, traverser }, question),
    storeOutput: async (text, name) =>
      (await load()).storeOutput(store, { text, name, projectId, createdAt: clock.now() }),
  };
}

type RecordEvent = (
  type: string,
  details: Readonly<Record<string, unknown>>,
  sessionId?: unknown,
) => void;

/** What needs no turn: the workspace does it, and the traces hear of what it changed. */
function callsOn(
  workspace: Workspace,
  recordEvent: RecordEvent,
): Pick<
  Orion,
  | 'listSessions'
  | 'countSessionBytes'
  | 'cleanSessions'
  | 'adoptSession'
  | 'discardSession'
  | 'readSession'
  | 'housekeep'
  | 'changes'
  | 'diffChange'
  | 'undo'
> {
  const { sessions } = workspace;
  return {
    listSessions: (which) => sessions.list(which),
    countSessionBytes: () => sessions.countBytes(),
    cleanSessions: (cleaning) => sessions.clean(cleaning),
    adoptSession: (file) => sessions.adopt(file),
    async discardSession(sessionId) {
      const discarded = await sessions.discard(sessionId);
      recordEvent('write_session_discarded', { attic: discarded.attic }, sessionId);
      return discarded;
    },
    readSession: (sessionId) => sessions.readContent(sessionId),
    housekeep: () => sessions.housekeep(),
    changes: () => workspace.changes(),
    diffChange: (id) => diffChange(workspace, id),
    async undo(request = {}) {
      const report = await workspace.undo(request);
      const { change_id, undo_id = null } = report;
      const files = report.files.map((file) => `${file.outcome} ${file.target_file}`);
      recordEvent('change_undone', { change_id, undo_id, files }, change_id);
      return report;
    },
  };
}

function openWorkspace(
  options: OrionOptions,
  settings: Settings,
  parts: Pick<WorkspaceOptions, 'clock' | 'onEvent' | 'shared'>,
): Promise<Workspace> {
  if (options.createWorkspace !== undefined) return options.createWorkspace();
  const root = resolve(options.workspace);
  const { stateDirectory } = settings;
  const { userDirectory, confirmProtectedPath } = options;
  return createWorkspace({
    ...parts,
    root,
    ...defined({
      stateDirectory: stateDirectory === null ? undefined : resolve(root, stateDirectory),
      userKeyDirectory: userDirectory,
      confirmProtectedPath,
    }),
    settings: {
      maxSessionAgeMs: settings.maxAgeMs,
      allowPaths: settings.allowPaths,
      allowHardLink: settings.allowHardLink,
      interactive: confirmProtectedPath !== undefined,
      atticMaxAgeMs: 30 * DAY_MS,
      atticMaxBytes: KEPT_BYTES,
    },
  });
}
