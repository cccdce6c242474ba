import { defined, systemClock, toErrorInfo } from '@orion/contracts';
import type { Clock, ErrorCode, ErrorInfo } from '@orion/contracts';
import { findSandbox } from '@orion/tool-runner';
import { inspectPlace } from '@orion/workspace';

import { loadConfiguration, requireProvider } from '../config/configuration.ts';
import type { Configuration } from '../config/configuration.ts';
import type { ConfigurationRequest } from '../config/configuration-sources.ts';
import { DEFAULT_SETTINGS } from '../config/settings.ts';
import type { Settings } from '../config/settings.ts';
import { createOrion } from '../create-orion.ts';
import { inspectMcpServer } from '../mcp/lazy-client.ts';
import type { Orion } from '../orion.ts';
import { keysOf, providerConnection } from '../provider-connection.ts';

/** One thing that was looked at. */
export type Finding = {
  readonly area:
    | 'node'
    | 'configuration'
    | 'state'
    | 'disk'
    | 'store'
    | 'sessions'
    | 'provider'
    | 'mcp'
    | 'sandbox';
  /** `problem`: a turn would fail, or lose what protects it. `warning`: it would work, with less. */
  readonly status: 'ok' | 'warning' | 'problem';
  readonly message: string;
  /** Of a problem that is an error. */
  readonly code?: ErrorCode;
  /** What to do about it. */
  readonly hint?: string;
};

export type DiagnosisRequest = ConfigurationRequest & {
  /** Also asks the provider for a few words, and starts the MCP servers. */
  readonly online: boolean;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

const MIB = 1024 * 1024;
const FEW_BYTES = 16 * MIB;
const LITTLE_SPACE = 512 * MIB;

/**
 * Looks at everything that a turn depends on, one finding after the other. Changes nothing, and asks no provider and starts no server
 * unless `online` says so. Never rejects for what it finds.
 */
export async function* diagnose(request: DiagnosisRequest): AsyncGenerator<Finding, void> {
  yield {
    area: 'node',
    status: 'ok',
    message: `Node ${process.versions.node}; the command needs 22.19 or newer`,
  };
  let configuration: Configuration;
  try {
    configuration = await loadConfiguration(request);
  } catch (error) {
    yield problem('configuration', toErrorInfo(error));
    return;
  }
  for (const notice of configuration.notices) {
    yield { area: 'configuration', status: 'warning', message: notice };
  }
  if (configuration.notices.length === 0) {
    yield { area: 'configuration', status: 'ok', message: 'every setting is valid' };
  }
  const settings: Settings = { ...DEFAULT_SETTINGS, ...configuration.settings };
  const { workspace, userDirectory } = configuration;
  try {
    const orion = await createOrion({
      workspace,
      settings,
      createStore: false,
      ...defined({ userDirectory: userDirectory ?? undefined }),
    });
    try {
      yield* inspectState(orion);
    } finally {
      await orion.close();
    }
  } catch (error) {
    yield problem('state', toErrorInfo(error));
  }
  yield* inspectProvider(request, configuration, settings);
  for (const { name } of configuration.mcp.servers) {
    yield await inspectServer(request, configuration, name);
  }
  try {
    yield await inspectSandbox(request, configuration, settings);
  } catch (error) {
    yield problem('sandbox', toErrorInfo(error));
  }
}

function problem(area: Finding['area'], { code, message, hint }: ErrorInfo): Finding {
  return {
    area,
    status: 'problem',
    message,
    code,
    ...defined({ hint }),
  };
}

async function* inspectState(orion: Orion): AsyncGenerator<Finding, void> {
  const { stateDirectory } = orion;
  const { kind, writable, freeBytes, network } = await inspectPlace(stateDirectory);
  if (kind === 'not_a_folder' || !writable) {
    const why = kind === 'not_a_folder' ? 'is not a folder' : 'cannot be written';
    yield {
      area: 'state',
      status: 'problem',
      message: `${stateDirectory} ${why}: nothing could be saved while a file is streamed`,
      hint: 'Correct its permissions, or choose another place with ORION_STATE_DIR.',
    };
  } else {
    const made = kind === 'missing' ? ', made by the first turn' : '';
    yield { area: 'state', status: 'ok', message: `${stateDirectory}${made}` };
  }
  yield diskFinding(freeBytes, network);
  yield await inspectStore(orion);
  const waiting = (await orion.listSessions()).filter(({ status }) => status !== 'live').length;
  yield waiting === 0
    ? { area: 'sessions', status: 'ok', message: 'no write session is interrupted' }
    : {
        area: 'sessions',
        status: 'warning',
        message: `${waiting} interrupted write ${waiting === 1 ? 'session' : 'sessions'}`,
        hint: 'See `orion list-sessions`.',
      };
}

function diskFinding(freeBytes: number | null, network: string | null): Finding {
  if (freeBytes === null) {
    return { area: 'disk', status: 'warning', message: 'the free space is not known' };
  }
  const message = `${Math.floor(freeBytes / MIB).toLocaleString('en')} MiB free`;
  if (freeBytes < LITTLE_SPACE) {
    const status = freeBytes < FEW_BYTES ? 'problem' : 'warning';
    return { area: 'disk', status, message, hint: 'Free some space.' };
  }
  if (network === null) return { area: 'disk', status: 'ok', message };
  return {
    area: 'disk',
    status: 'warning',
    message: `${message}, on a network file system (${network})`,
    hint: 'Locks and syncs may not hold there: keep the state on a local disk with ORION_STATE_DIR.',
  };
}

async function inspectStore(orion: Orion): Promise<Finding> {
  const foreign = await orion.findForeignStore();
  if (foreign !== null) {
    return {
      area: 'store',
      status: 'warning',
      message: 'the store is not known to be yours: conversations and traces are not kept',
      hint: 'Look at it and take it over with `orion trust`.',
    };
  }
  try {
    await orion.store.conversations.list({ limit: 1 });
    return { area: 'store', status: 'ok', message: 'conversations and traces can be read' };
  } catch (error) {
    return problem('store', toErrorInfo(error));
  }
}

async function* inspectProvider(
  { online, signal, clock = systemClock }: DiagnosisRequest,
  configuration: Configuration,
  settings: Settings,
): AsyncGenerator<Finding, void> {
  let named: string;
  try {
    const { type = 'openai', model, baseUrl } = requireProvider(configuration);
    named = [type, model, baseUrl].filter((part) => part !== undefined).join(', ');
  } catch (error) {
    yield problem('provider', toErrorInfo(error));
    return;
  }
  if (!online) {
    yield { area: 'provider', status: 'ok', message: `${named} (not asked; --online asks it)` };
    return;
  }
  const { provider } = configuration;
  const connection = providerConnection(
    { provider },
    settings,
    clock,
    keysOf({ workspace: '', provider }, settings),
  );
  try {
    const { adapter } = await connection.connect(null);
    const started = clock.monotonic();
    const messages = [{ role: 'user' as const, content: 'Answer with the word OK.' }];
    for await (const event of adapter.sendMessagesStreaming(messages, { max_tokens: 64, signal })) {
      if (event.type === 'error') {
        yield problem('provider', event.error);
        return;
      }
    }
    const milliseconds = Math.round(clock.monotonic() - started);
    yield {
      area: 'provider',
      status: 'ok',
      message: `${named} answered within ${milliseconds} ms`,
    };
  } catch (error) {
    yield problem('provider', toErrorInfo(error));
  } finally {
    await connection.close();
  }
}

async function inspectServer(
  { online, signal, clock = systemClock }: DiagnosisRequest,
  { mcp, workspace }: Configuration,
  name: string,
): Promise<Finding> {
  if (!online) {
    const message = `${name} is configured (not started; --online starts it)`;
    return { area: 'mcp', status: 'ok', message };
  }
  try {
    const { revision, tools } = await inspectMcpServer(mcp, name, { signal, workspace, clock });
    const message = `${name} speaks MCP ${revision} and has ${tools.length} tools`;
    return { area: 'mcp', status: 'ok', message };
  } catch (error) {
    const { message } = toErrorInfo(error);
    return {
      area: 'mcp',
      status: 'warning',
      message,
      hint: 'Turns go on without its tools. Correct or remove its entry of mcpServers.',
    };
  }
}

async function inspectSandbox(
  { signal, clock = systemClock }: DiagnosisRequest,
  { commands, workspace: root }: Configuration,
  settings: Settings,
): Promise<Finding> {
  if (settings.sandbox === 'off') {
    return { area: 'sandbox', status: 'ok', message: 'switched off: shell lines run without one' };
  }
  const sandbox = await findSandbox(commands.environment['PATH'] ?? '', { root, clock, signal });
  if (sandbox.kind === 'bubblewrap') {
    return { area: 'sandbox', status: 'ok', message: `bubblewrap (${sandbox.program})` };
  }
  const required = settings.sandbox === 'require';
  return {
    area: 'sandbox',
    status: required ? 'problem' : 'warning',
    message: `none, since ${sandbox.because}: shell lines ${required ? 'are refused' : 'run without one'}`,
    hint: 'On Linux, install bubblewrap; see docs/guides/running-commands.md.',
  };
}
