import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type {
  Clock,
  LlmAdapter,
  Mode,
  PlanReport,
  ProtocolConfig,
  RunEvent,
  Workspace,
} from '@orion/contracts';
import { KeysInUse, OrionError, systemClock } from '@orion/contracts';
import { createWritePlanTool } from '@orion/core';
import type { ApprovalPolicy, SessionSettings } from '@orion/core';
import { createContentProtocol, createProtocol, resolveProtocolConfig } from '@orion/protocols';
import { createPatternMatcher, createWorkspace } from '@orion/workspace';
import type { WorkspaceEventSink } from '@orion/workspace';

import { chooseProtocol } from './config/protocol-choice.ts';
import { DEFAULT_SETTINGS } from './config/settings.ts';
import type { Settings } from './config/settings.ts';
import { contextLimit, historyLimit } from './context/content-messages.ts';
import { redactAdapter } from './keys/redacted-adapter.ts';
import type { Orion, OrionOptions, PlanRequest, ProviderIdentity, TurnRequest } from './orion.ts';
import { openRecords } from './store/open-records.ts';
import { mayBeShared, OWN_PROJECT, projectOf } from './store/store-location.ts';
import type { TurnJournal } from './store/turn-journal.ts';
import { planRecorder } from './plan-recorder.ts';
import { describeListed } from './turn/paused-session.ts';
import { Turn } from './turn/turn.ts';
import { TurnScope } from './turn/turn-scope.ts';
import type { TurnDependencies, TurnTask } from './turn/turn-scope.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_BYTES = 512 * 1024 * 1024;
/** Long-lived processes look for old orphans so often, in milliseconds. */
const HOUSEKEEPING_MS = 60 * 60 * 1000;
/**
 * The composition root: builds every part from the options and hands them to each other. Rejects with an
 * `OrionError` for options that cannot work.
 */
export async function createOrion(options: OrionOptions): Promise<Orion> {
  const clock = options.clock ?? systemClock;
  const settings: Settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const keys = keysOf(options, settings);
  const workspace = await (
    options.createWorkspace ??
    (() =>
      openWorkspace(options, settings, clock, (type, details) =>
        traces.record({ type, source: 'workspace', projectId, ...sessionOf(details), details }),
      ))
  )();
  const records = openRecords({ options, settings, clock, workspace, redact: keys.redact });
  const { traces, conversations, journals } = records;
  const sharesStore = mayBeShared(settings);
  const projectId = sharesStore ? projectOf(workspace) : OWN_PROJECT;
  const protocols = createProtocolChooser(options, settings);
  const stop = new AbortController();
  const adapters = createConnector(options, settings, clock, keys);
  const protocolConfig = protocolConfigOf(settings);
  // Always by the real time: an expression does not wait for a clock.
  const patterns = createPatternMatcher(systemClock);
  const shared: Omit<TurnDependencies, keyof TurnProtocol> = {
    workspace,
    connect: (defaults) => adapters.connect(defaults),
    protocolConfig: (mode, adapter) => sampled(protocolConfig, mode, adapter),
    content: (name) => createContentProtocol(name === 'controller' ? 'text' : 'native'),
    writePlanTool: createWritePlanTool({
      workspace,
      clock,
      createId: randomUUID,
      patterns,
      approval: approvalOf(options.approve),
      eol: settings.eol,
      strict: settings.strict,
      nextTurn: () => nextTurn(),
    }),
    patterns,
    sessionSettings: (adapter) => sessionSettingsOf(settings, adapter),
    contextLimit: (adapter) => contextLimit(settings, adapter),
    historyLimit: (adapter) => historyLimit(settings, adapter),
    clock,
    trace: traces,
    createId: randomUUID,
    conversations,
    keys,
    takeStoreNotice: () => records.takeNotice(),
    stopSignal: stop.signal,
  };
  const running = new Set<Promise<void>>();
  /** The conversations that have a turn now. */
  const busy = new Set<string>();
  let cancelHousekeeping = scheduleHousekeeping();

  function scheduleHousekeeping(): () => void {
    return clock.schedule(HOUSEKEEPING_MS, () => {
      void workspace.sessions
        .housekeep()
        .catch((error: unknown) => traces.record('housekeeping_failed', { error }))
        .finally(() => {
          if (!stop.signal.aborted) cancelHousekeeping = scheduleHousekeeping();
        });
    });
  }

  async function* start(
    task: TurnTask,
    request: Pick<TurnRequest, 'projectId' | 'conversationId' | 'signal' | 'protocol' | 'metadata'>,
    sessionId: string | null,
  ): AsyncGenerator<RunEvent, void> {
    const dependencies: TurnDependencies = { ...shared, ...protocols.choose(request) };
    const requestId = randomUUID();
    const turnEnd = new AbortController();
    const signal = AbortSignal.any(
      [stop.signal, turnEnd.signal, request.signal].filter((each) => each !== undefined),
    );
    let ended = (): void => undefined;
    const end = new Promise<void>((settle) => {
      ended = settle;
    });
    running.add(end);
    let journal: TurnJournal | null = null;
    let entered: string | null = null;
    const finish = async (): Promise<void> => {
      turnEnd.abort();
      if (entered !== null) busy.delete(entered);
      entered = null;
      if (journal !== null) await journals.end(journal);
      journal = null;
      running.delete(end);
      ended();
    };
    try {
      const named = await conversationIdOf(request, sessionId);
      const conversationId = named ?? randomUUID();
      if (busy.has(conversationId)) throw conversationBusy(conversationId);
      busy.add(conversationId);
      entered = conversationId;
      const begun =
        named === undefined
          ? conversations.begin(conversationId, projectId)
          : await conversations.find(named, projectId);
      const scope = new TurnScope(
        dependencies,
        {
          requestId,
          projectId: request.projectId ?? begun.projectId,
          conversationId: begun.conversationId,
        },
        signal,
      );
      scope.goOnWith(begun);
      journal = journals.begin(requestId);
      const turn = new Turn(scope, task, journal, () => turnEnd.abort());
      for await (const event of turn.run()) {
        // A reader need not ask for what follows it: there is nothing.
        if (event.type === 'done') await finish();
        yield event;
      }
    } finally {
      await finish();
    }
  }

  /** Where a turn goes on: with the conversation of the session that it recovers, or the one that was named. */
  async function conversationIdOf(
    request: Pick<TurnRequest, 'conversationId'>,
    sessionId: string | null,
  ): Promise<string | undefined> {
    if (sessionId === null) return request.conversationId;
    // One that is not known is not taken for the named one: its history is another.
    const turn = await workspace.sessions.readTurn(sessionId);
    return turn?.conversationId;
  }

  async function applyPlan(plan: unknown, request: PlanRequest): Promise<PlanReport> {
    const signal = AbortSignal.any(
      [stop.signal, request.signal].filter((each) => each !== undefined),
    );
    const record = planRecorder((event) => traces.record({ ...event, projectId }));
    try {
      return await shared.writePlanTool.execute(plan, {
        ...(request.dryRun === undefined ? {} : { dryRun: request.dryRun }),
        ...(request.approve === undefined ? {} : { approval: approvalOf(request.approve) }),
        signal,
        onStep: record.step,
      });
    } catch (error) {
      record.failed(error);
      throw error;
    }
  }

  let closed: Promise<void> | null = null;

  async function close(): Promise<void> {
    stop.abort();
    cancelHousekeeping();
    await Promise.all(running);
    await adapters.close();
    await workspace.close();
    await records.close();
  }

  return {
    runTurn: (request) =>
      start(
        {
          kind: 'message',
          content: request.content,
          mode: request.mode ?? 'act',
          recover: request.recover ?? null,
        },
        request,
        request.recover ?? null,
      ),
    recoverSession: (request) =>
      start({ kind: 'recover', sessionId: request.sessionId }, request, request.sessionId),
    finalizeSession: (request) => start({ kind: 'finalize', request }, request, request.sessionId),
    projectId,
    sharesStore,
    store: records.store,
    applyPlan: (plan, planOptions = {}) => applyPlan(plan, planOptions),
    findConversation: (which) => conversations.look(which),
    listSessions: () => workspace.sessions.list(),
    cleanSessions: (cleaning) => workspace.sessions.clean(cleaning),
    adoptSession: (file) => workspace.sessions.adopt(file),
    async discardSession(sessionId) {
      const discarded = await workspace.sessions.discard(sessionId);
      traces.record({
        type: 'write_session_discarded',
        source: 'workspace',
        projectId,
        sessionId,
        details: { attic: discarded.attic },
      });
      return discarded;
    },
    listChanges: () => workspace.listChanges(),
    async undo(request = {}) {
      const report = await workspace.undo(request);
      traces.record({
        type: 'change_undone',
        source: 'workspace',
        projectId,
        sessionId: report.change_id,
        details: {
          change_id: report.change_id,
          undo_id: report.undo_id ?? null,
          files: report.files.map((file) => `${file.outcome} ${file.target_file}`),
        },
      });
      return report;
    },
    readSession: (sessionId) => workspace.sessions.readContent(sessionId),
    housekeep: () => workspace.sessions.housekeep(),
    describeSession: (listing) => describeListed(listing, settings.maxBytes),
    getCurrentProtocol: () => protocols.current(),
    traces,
    notStored: () => records.notStored(),
    takeNotice: () => records.takeLastNotice(),
    findForeignStore: () => records.findForeignStore(),
    adoptStore: () => records.adoptStore(),
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function conversationBusy(conversationId: string): OrionError {
  return new OrionError({
    code: 'CONVERSATION_BUSY',
    message: `The conversation ${conversationId} has a turn that is not over.`,
    retryable: true,
  });
}

function sessionOf({ session_id: id }: { readonly [key: string]: unknown }): {
  readonly sessionId?: string;
} {
  return typeof id === 'string' ? { sessionId: id } : {};
}

function approvalOf(approve: OrionOptions['approve']): ApprovalPolicy {
  if (approve === undefined || approve === 'auto') return { kind: 'auto' };
  return approve === 'never' ? { kind: 'never' } : { kind: 'ask', review: approve };
}

function openWorkspace(
  options: OrionOptions,
  settings: Settings,
  clock: Clock,
  onEvent: WorkspaceEventSink,
): Promise<Workspace> {
  const root = resolve(options.workspace);
  return createWorkspace({
    root,
    clock,
    ...(settings.stateDirectory === null
      ? {}
      : { stateDirectory: resolve(root, settings.stateDirectory) }),
    ...(options.userDirectory === undefined ? {} : { userKeyDirectory: options.userDirectory }),
    settings: {
      maxSessionAgeMs: settings.maxAgeMs,
      allowPaths: settings.allowPaths,
      allowHardLink: settings.allowHardLink,
      interactive: options.confirmProtectedPath !== undefined,
      atticMaxAgeMs: 30 * DAY_MS,
      atticMaxBytes: KEPT_BYTES,
    },
    onEvent,
    ...(options.confirmProtectedPath === undefined
      ? {}
      : { confirmProtectedPath: options.confirmProtectedPath }),
  });
}

/** The parts of a turn that depend on its protocol. */
type TurnProtocol = Pick<TurnDependencies, 'protocol' | 'protocolReason'>;

/** Chooses the protocol of each turn; a wrong one in the options is refused at once. */
function createProtocolChooser(
  options: OrionOptions,
  settings: Settings,
): {
  choose(request: Pick<TurnRequest, 'protocol' | 'metadata'>): TurnProtocol;
  current(): string;
} {
  const { protocol: given, protocolReason } = options;
  const own = typeof given === 'object' ? given : null;
  const configured =
    typeof given === 'string'
      ? chooseProtocol({
          pinned: given,
          pinnedBy: protocolReason ?? 'option',
          overrideEnabled: false,
        })
      : undefined;
  let current = own?.getName() ?? configured?.name ?? 'standard';
  return {
    choose(request) {
      const { name, reason } = chooseProtocol({
        pinned: request.protocol,
        metadata: request.metadata,
        overrideEnabled: settings.protocolOverrideEnabled,
        configured,
      });
      const chosen =
        own !== null && reason === 'default'
          ? { protocol: own, protocolReason: protocolReason ?? 'option' }
          : { protocol: createProtocol(name), protocolReason: reason };
      current = chosen.protocol.getName();
      return chosen;
    },
    current: () => current,
  };
}

function protocolConfigOf(settings: Settings): ProtocolConfig {
  const { maxTurns, maxSeconds, maxTokens } = settings;
  return resolveProtocolConfig({
    maxDuplicateAttempts: settings.maxDuplicateAttempts,
    maxIdleToolPhases: settings.maxIdleToolPhases,
    maxIterations: settings.maxIterations,
    maxPhaseCycles: settings.maxPhaseCycles,
    maxToolsPerToolPhase: settings.maxToolsPerToolPhase,
    maxControllerTurns: settings.controllerMaxTurns,
    maxToolCallsPerStep: settings.controllerMaxCallsPerStep,
    maxInvalidOutputs: settings.controllerMaxInvalid,
    stopSeconds: settings.stopSeconds,
    stopTokens: settings.stopTokens,
    debugShowToolResults: settings.debugShowToolResults,
    budget: { maxTurns, maxSeconds, maxTokens },
    temperature: settings.temperature ?? undefined,
  });
}

/** How a model that takes a temperature is sampled when nothing is configured (R143). */
const TEMPERATURES: Readonly<Record<Mode, number>> = { plan: 0.7, act: 0.3 };

function sampled(config: ProtocolConfig, mode: Mode, adapter: LlmAdapter): ProtocolConfig {
  if (config.temperature !== undefined || adapter.limits?.temperature !== true) return config;
  return { ...config, temperature: TEMPERATURES[mode] };
}

function sessionSettingsOf(settings: Settings, adapter: LlmAdapter | null): SessionSettings {
  return {
    idleMs: settings.idleMs,
    maxIdlePrompts: settings.maxIdlePrompts,
    saveLines: settings.saveLines,
    saveMs: settings.saveMs,
    maxBytes: settings.maxBytes,
    doneMode: settings.doneMode,
    doneSettleMs: settings.doneSettleMs,
    strict: settings.strict,
    stripFence: settings.stripFence,
    seam: settings.seam,
    askOmissions: !settings.allowOmissions,
    signalsMessageEnd: adapter?.signalsMessageEnd ?? true,
  };
}

/** What is known before a provider is asked for; its key comes with it. */
function keysOf(options: OrionOptions, settings: Settings): KeysInUse {
  const { provider, telemetry } = options;
  const { databaseUrl } = settings;
  const headers = Object.entries(telemetry?.headers ?? {})
    .filter(([name]) => /auth|key|token|secret|cookie/iu.test(name))
    // A scheme may stand before it.
    .map(([, value]) => value.split(' ').at(-1));
  const password =
    databaseUrl !== null && URL.canParse(databaseUrl) ? new URL(databaseUrl).password : '';
  const given =
    typeof provider === 'object' ? [provider.apiKey, ...Object.values(provider.keys ?? {})] : [];
  return new KeysInUse([...given, ...headers, decodedPassword(password)]);
}

function decodedPassword(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

type Connected = { readonly adapter: LlmAdapter; readonly identity: ProviderIdentity };

/**
 * Makes the adapter when the first turn asks for it. What the options leave open comes from the session that is
 * recovered: its provider, model and base URL, never a key.
 */
function createConnector(
  options: OrionOptions,
  settings: Settings,
  clock: Clock,
  keys: KeysInUse,
): {
  connect(defaults: ProviderIdentity | null): Promise<Connected>;
  close(): Promise<void>;
} {
  const opened = new Map<string, Promise<Connected & { close(): Promise<void> }>>();

  async function open(
    defaults: ProviderIdentity | null,
  ): Promise<Connected & { close(): Promise<void> }> {
    const given =
      typeof options.provider === 'function' ? options.provider(defaults) : options.provider;
    const provider = given?.type ?? defaults?.provider ?? 'openai';
    const sameProvider =
      defaults !== null && (given?.type === undefined || given.type === defaults.provider);
    const model = given?.model ?? (sameProvider ? defaults.model : undefined);
    const baseUrl = given?.baseUrl ?? (sameProvider ? defaults.baseUrl : undefined);
    // A key is for the provider that it was given with, whatever a session says.
    const apiKey =
      given?.apiKey !== undefined && (given.type ?? 'openai') === provider
        ? given.apiKey
        : given?.keys?.[provider];
    keys.add(apiKey);
    for (const other of Object.values(given?.keys ?? {})) keys.add(other);
    const { createAdapter } = await import('@orion/llm-adapters');
    const adapter = await createAdapter({
      provider,
      ...(model === undefined ? {} : { model }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(settings.silenceMs === null ? {} : { silenceMs: settings.silenceMs }),
      ...(settings.outputTokens === null ? {} : { maxTokens: settings.outputTokens }),
      ...(settings.prefill === null ? {} : { limits: { prefill: settings.prefill } }),
      clock,
      ...(given?.script === undefined ? {} : { script: given.script }),
    });
    return {
      adapter: redactAdapter(adapter, keys),
      identity: { provider, model: adapter.model, ...(baseUrl === undefined ? {} : { baseUrl }) },
      close: () => adapter.close(),
    };
  }

  return {
    async connect(defaults) {
      const { adapter } = options;
      if (adapter !== undefined) {
        return {
          adapter: redactAdapter(adapter, keys),
          identity: { provider: adapter.name, model: adapter.model },
        };
      }
      const key = JSON.stringify(defaults);
      const connected = opened.get(key) ?? open(defaults);
      opened.set(key, connected);
      try {
        return await connected;
      } catch (error) {
        opened.delete(key);
        throw error;
      }
    },
    async close() {
      for (const connecting of opened.values()) {
        const connected = await connecting;
        await connected.close();
      }
      opened.clear();
    },
  };
}
