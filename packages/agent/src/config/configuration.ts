import { join } from 'node:path';

import { defined, ERROR_CODES, OrionError } from '@orion/contracts';
import { commandEnvironment } from '@orion/tool-runner';
import type { Mode, ProtocolName } from '@orion/contracts';

import type { CommandOptions, McpOptions, ProviderOptions, TelemetryOptions } from '../orion.ts';
import { patternWarnings } from '../commands/action-approval.ts';
import { checkEach, configurationError } from './configuration-error.ts';
import { optionsNeedingTrust, type FileConfiguration } from './configuration-file.ts';
import { USER_FILE } from './configuration-folder.ts';
import { readSources } from './configuration-sources.ts';
import type { ConfigurationFlags, ConfigurationRequest } from './configuration-sources.ts';
import { mcpEnvironmentOf, mcpServersOf } from './mcp-servers.ts';
import { booleanVariable, firstNamed, oneOf, spelled } from './named-value.ts';
import type { Named } from './named-value.ts';
import { protocolNamed } from './protocol-choice.ts';
import { chooseProvider, keysOf, VENDORS } from './provider-choice.ts';
import {
  DEFAULT_SETTINGS,
  isLimit,
  isOwn,
  settingFromFlag,
  settingsFromEnvironment,
  type Settings,
} from './settings.ts';
import { requireStoreForSessions } from './sessions-in-store.ts';
import { telemetryOptions } from './telemetry.ts';
import type { Trust } from './workspace-trust.ts';

export type RecoverChoice = 'ask' | 'yes' | 'no';

/** Who agrees to changes of files. */
export type ApproveChoice = 'auto' | 'ask' | 'never';

/** Which conversation a turn belongs to. */
export type ConversationChoice =
  | { readonly kind: 'new' }
  | { readonly kind: 'latest' }
  | { readonly kind: 'named'; readonly conversationId: string };

export type Configuration = {
  readonly workspace: string;
  /** The folder of this user's own configuration; null without a home folder. */
  readonly userDirectory: string | null;
  /** As far as it is known; `requireProvider` says whether that is enough for a turn. */
  readonly provider: ProviderOptions;
  /** The part of it that flags or environment name: a recovery takes the rest from its session. */
  readonly providerChoice: Partial<ProviderOptions>;
  /** The keys that the environment holds, by provider. */
  readonly providerKeys: Readonly<Record<string, string>>;
  readonly keyRequired: boolean;
  /** Whether the workspace has an `orion.config.json`, and how far the user accepts it. */
  readonly workspaceFile: 'none' | 'accepted' | 'not_accepted' | 'changed';
  readonly protocol: ProtocolName;
  readonly protocolReason: string;
  readonly mode: Mode;
  readonly projectId: string | null;
  /** Null if nothing was chosen: it then depends on whether there is a terminal. */
  readonly recover: RecoverChoice | null;
  readonly approve: ApproveChoice;
  readonly conversation: ConversationChoice;
  readonly settings: Partial<Settings>;
  /** Null when no spans are wanted. */
  readonly telemetry: TelemetryOptions | null;
  /** What commands of a model see of this machine. */
  readonly commands: CommandOptions;
  readonly mcp: McpOptions;
  readonly json: boolean;
  readonly showContent: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
  /** Lines are printed, and none is redrawn. */
  readonly plain: boolean;
  readonly noBell: boolean;
  /** Sentences for the person: what was left out, and why. */
  readonly notices: readonly string[];
};

/**
 * Everything a command needs to know before it starts, from flags, environment, the workspace's
 * `orion.config.json` and the user's own `config.json`, in this order.
 *
 * A workspace is often somebody else's. Its file therefore chooses only what costs nothing: model, protocol, mode
 * and lower limits. Everything else in it takes effect only once the user has accepted it (`trustWorkspace`), and
 * `notices` says so.
 *
 * Rejects with CONFIG_INVALID (naming variable, flag, or file and key), PROVIDER_UNKNOWN, PROTOCOL_UNSUPPORTED and
 * SCRIPT_INVALID.
 */
export async function loadConfiguration(request: ConfigurationRequest): Promise<Configuration> {
  const { flags, workspace } = request;
  const { sources, folder, unusable, trust } = await readSources(request);
  const { environment, project, trusted, user, workspaceFile, userFile } = sources;
  const fromEnvironment = settingsFromEnvironment(environment);
  const fromUser = user?.settings ?? {};
  const limits = tighterLimits(project?.settings ?? {}, { ...fromUser, ...fromEnvironment });
  const settings: Partial<Settings> = {
    ...fromUser,
    ...limits,
    ...withoutOwn(trusted?.settings),
    ...fromEnvironment,
    ...settingsFromFlags(flags),
  };

  requireStoreForSessions(settings);

  const said = (
    name: 'mode' | 'recover' | 'approve' | 'projectId',
    ofWorkspace: FileConfiguration | null,
  ): Named<string> | undefined => {
    const { flag, variable } = spelled(name);
    return firstNamed([
      [flag, flags[name]],
      [variable, environment[variable]],
      [workspaceFile, inFile(ofWorkspace, name)],
      [userFile, inFile(user, name)],
    ]);
  };
  const mode = said('mode', project);
  const recover = said('recover', trusted);
  const approve = said('approve', trusted);
  const protocol = firstNamed<string>([
    ['--protocol', flags.protocol],
    ['ORION_PROTOCOL', environment['ORION_PROTOCOL']],
    ['TWO_STAGE_ENABLED', twoStage(environment)],
    [workspaceFile, project?.protocol],
    [userFile, user?.protocol],
  ]) ?? { value: 'standard', source: 'default' };
  const provider = await chooseProvider(sources);
  const switchOf = (name: 'showContent' | 'verbose' | 'quiet' | 'plain' | 'noBell'): boolean => {
    const inEnvironment = booleanVariable(environment, spelled(name).variable);
    return flags[name] ?? inEnvironment ?? trusted?.[name] ?? user?.[name] ?? false;
  };

  // What the user's own file says of a name counts.
  const { leftOut, ...mcp } = mcpServersOf(
    { ...trusted?.mcpServers, ...user?.mcpServers },
    workspace,
    environment,
    { variables: settings.mcpEnvironment ?? [], hosts: settings.mcpHosts ?? [] },
  );

  return {
    workspace,
    userDirectory: folder,
    provider: provider.options,
    providerChoice: provider.choice,
    providerKeys: keysOf(environment),
    keyRequired: provider.keyRequired,
    workspaceFile: workspaceFileOf(project, trust),
    protocol: protocolNamed(protocol.value, protocol.source),
    protocolReason: protocol.source,
    mode: mode === undefined ? 'act' : oneOf(mode, ['plan', 'act']),
    projectId: said('projectId', trusted)?.value ?? null,
    recover: recover === undefined ? null : oneOf<RecoverChoice>(recover, ['ask', 'yes', 'no']),
    approve: approve === undefined ? 'auto' : oneOf(approve, ['auto', 'ask', 'never']),
    conversation: chooseConversation(flags, environment),
    settings,
    telemetry: telemetryOptions(settings, environment),
    commands: {
      environment: commandEnvironment(environment, settings.commandEnvironment ?? []),
      home: request.homeDirectory,
    },
    mcp: { ...mcp, environment: mcpEnvironmentOf(environment) },
    json: flags.json ?? booleanVariable(environment, 'ORION_JSON') ?? false,
    showContent: switchOf('showContent'),
    verbose: switchOf('verbose'),
    quiet: switchOf('quiet'),
    plain: switchOf('plain'),
    noBell: switchOf('noBell'),
    notices: [
      ...(unusable === null
        ? []
        : [`${workspaceFile} was not used: ${unusable.reason}. Correct or remove it.`]),
      ...(project === null || trusted !== null
        ? []
        : ignoredKeys(workspaceFile, keysNeedingTrust(project, limits), trust)),
      ...ownKeys(workspaceFile, project),
      ...leftOut,
      ...patternWarnings({ ...DEFAULT_SETTINGS, ...settings }),
    ],
  };
}

/** The provider of a turn. Throws MODEL_MISSING or API_KEY_MISSING, which name all that is left to say. */
export function requireProvider(configuration: Configuration): ProviderOptions {
  const { provider } = configuration;
  if (provider.type === 'scripted') {
    if (provider.script === undefined) {
      throw new OrionError({
        code: 'SCRIPT_INVALID',
        message: 'The scripted provider needs a script.',
        hint: 'Name a script file with --script or ORION_SCRIPT.',
      });
    }
    return provider;
  }
  const lacksModel = provider.model === undefined;
  const lacksKey = configuration.keyRequired && provider.apiKey === undefined;
  if (!lacksModel && !lacksKey) return provider;
  const variable = VENDORS[provider.type ?? 'openai']?.key;
  const keyHint =
    lacksKey && variable && `Set ${variable}, or name your own server with --base-url.`;
  if (!lacksModel) {
    throw new OrionError({
      code: 'API_KEY_MISSING',
      message: 'There is no API key.',
      ...defined({ hint: keyHint || undefined }),
    });
  }
  const { userDirectory } = configuration;
  const file = userDirectory !== null && join(userDirectory, USER_FILE);
  throw new OrionError({
    code: 'MODEL_MISSING',
    message: `No model was named, and there is no default one.${lacksKey ? ' There is no API key either.' : ''}`,
    hint: [ERROR_CODES.MODEL_MISSING, file && `For all turns: "model" in ${file}.`, keyHint]
      .filter(Boolean)
      .join(' '),
  });
}

/**
 * The provider of a recovery: what flags and environment name, and the keys. Model and address that are left out are
 * the session's own.
 */
export function recoveryProvider(configuration: Configuration): ProviderOptions {
  const { script } = configuration.provider;
  const { providerChoice, providerKeys: keys } = configuration;
  return { ...providerChoice, keys, ...defined({ script }) };
}

function chooseConversation(
  flags: ConfigurationFlags,
  environment: Readonly<Record<string, string>>,
): ConversationChoice {
  if (flags.continue === true && flags.resume !== undefined) {
    throw configurationError(
      '--continue and --resume exclude each other.',
      'Use --continue for the latest conversation, --resume <id> for any other.',
    );
  }
  // A flag decides alone; of the variables the one that names a conversation is the more precise.
  const resume =
    flags.continue === true ? undefined : (flags.resume ?? environment['ORION_RESUME']);
  if (resume !== undefined) return { kind: 'named', conversationId: resume };
  const latest = flags.continue ?? booleanVariable(environment, 'ORION_CONTINUE') ?? false;
  return { kind: latest ? 'latest' : 'new' };
}

function workspaceFileOf(
  project: FileConfiguration | null,
  trust: Trust,
): Configuration['workspaceFile'] {
  if (project === null) return 'none';
  if (trust === 'trusted') return 'accepted';
  return trust === 'changed' ? 'changed' : 'not_accepted';
}

function twoStage(environment: Readonly<Record<string, string>>): string | undefined {
  return booleanVariable(environment, 'TWO_STAGE_ENABLED') === true ? 'two-stage' : undefined;
}

/** Flags whose text is read as their variable's is. */
const TYPED_FLAGS = [
  'maxTurns',
  'maxSeconds',
  'maxTokens',
  'maxBytes',
  'approveCommands',
  'sandbox',
] as const;

function settingsFromFlags(flags: ConfigurationFlags): Partial<Settings> {
  const { allowPaths, allowHardLink, allowOmissions, allowCommands, allowNetwork } = flags;
  const given = { allowPaths, allowHardLink, allowOmissions, allowCommands, allowNetwork };
  let settings: Partial<Settings> = defined(given);
  checkEach(TYPED_FLAGS, (name) => {
    const text = flags[name];
    if (text !== undefined) settings = { ...settings, ...settingFromFlag(name, text) };
  });
  return settings;
}

/** The limits of a workspace file that are below what would hold without it. */
function tighterLimits(project: Partial<Settings>, others: Partial<Settings>): Partial<Settings> {
  const limits: Record<string, unknown> = {};
  for (const [key, limit] of Object.entries(project)) {
    const name = key as keyof Settings;
    if (!isLimit(name)) continue;
    const current = name in others ? others[name] : DEFAULT_SETTINGS[name];
    if (typeof limit === 'number' && (typeof current !== 'number' || limit <= current)) {
      limits[name] = limit;
    }
  }
  return limits as Partial<Settings>;
}

/** What an accepted workspace file may say: what runs on this machine is decided by its user alone. */
function withoutOwn(settings: Partial<Settings> = {}): Partial<Settings> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !isOwn(name)));
}

/** What of a workspace file takes effect only once it is accepted. */
function keysNeedingTrust(
  project: FileConfiguration,
  limits: Partial<Settings>,
): readonly string[] {
  const settings = Object.keys(project.settings).filter(
    (name) => !(name in limits) && !isOwn(name),
  );
  return [...Object.keys(optionsNeedingTrust(project)), ...settings];
}

/** One sentence that names what a workspace file may not decide. */
function ignoredKeys(file: string, keys: readonly string[], trust: Trust): readonly string[] {
  if (keys.length === 0) return [];
  const changed = trust === 'changed' ? ' The file has changed since it was accepted.' : '';
  return [
    `${file}: ${keys.join(', ')} ${keys.length === 1 ? 'was' : 'were'} ignored: a workspace file decides ` +
      `model, protocol, mode and lower limits; anything else takes effect only from your own configuration, ` +
      `flags or environment, or once you accept the file with \`orion trust\`.${changed}`,
  ];
}

/** One sentence that names what no workspace file decides. */
function ownKeys(file: string, project: FileConfiguration | null): readonly string[] {
  const keys = Object.keys(project?.settings ?? {}).filter(isOwn);
  const ignored = (names: readonly string[], what: string): string =>
    `${file}: ${names.join(', ')} ${names.length === 1 ? 'was' : 'were'} ignored: ${what} by your own configuration`;
  return [
    ...(keys.length === 0
      ? []
      : [`${ignored(keys, 'which commands run is decided')}, flags or environment alone.`]),
    ...(project?.projects === undefined
      ? []
      : [`${ignored(['projects'], 'which folders are served is decided')} alone.`]),
  ];
}

/** In a file `ask` says no more than the default does; a script must not fail because of it. */
function inFile(
  file: FileConfiguration | null,
  name: 'mode' | 'recover' | 'approve' | 'projectId',
): string | undefined {
  return name === 'recover' && file?.recover === 'ask' ? undefined : file?.[name];
}
