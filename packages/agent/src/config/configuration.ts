import { join, resolve } from 'node:path';

import { OrionError, type Mode, type ProtocolName } from '@orion/contracts';
import { MODEL_ALIASES, PROVIDER_NAMES } from '@orion/llm-adapters';
import { readTypedFile } from '@orion/workspace';

import type { ProviderOptions, TelemetryOptions } from '../orion.ts';
import {
  readConfigurationFile,
  readHashedConfigurationFile,
  UnusableFile,
  type FileConfiguration,
} from './configuration-file.ts';
import { configurationFolder, withoutEmpty, WORKSPACE_FILE } from './configuration-folder.ts';
import { protocolNamed } from './protocol-choice.ts';
import {
  DEFAULT_SETTINGS,
  settingFromFlag,
  settingsFromEnvironment,
  type Settings,
} from './settings.ts';
import { telemetryOptions } from './telemetry.ts';
import { trustOf, type Trust } from './workspace-trust.ts';

export type RecoverChoice = 'ask' | 'yes' | 'no';

/** Who agrees to changes of files. */
export type ApproveChoice = 'auto' | 'ask' | 'never';

/** Which conversation a turn belongs to. */
export type ConversationChoice =
  | { readonly kind: 'new' }
  | { readonly kind: 'latest' }
  | { readonly kind: 'named'; readonly conversationId: string };

/** What the command line says; every one has a variable ORION_<FLAG> of the same meaning. */
export type ConfigurationFlags = {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly protocol?: string;
  readonly mode?: string;
  readonly projectId?: string;
  /** A file; relative to the current folder. */
  readonly script?: string;
  readonly recover?: string;
  readonly approve?: string;
  /** Go on with the latest conversation. */
  readonly continue?: boolean;
  /** Go on with this conversation. */
  readonly resume?: string;
  readonly allowPaths?: readonly string[];
  readonly allowHardLink?: boolean;
  readonly allowOmissions?: boolean;
  /** Budgets of the turn, as they were typed. */
  readonly maxTurns?: string;
  readonly maxSeconds?: string;
  readonly maxTokens?: string;
  /** The limit of a file's size, as it was typed. */
  readonly maxBytes?: string;
  readonly json?: boolean;
  readonly showContent?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
};

export type ConfigurationRequest = {
  readonly flags: ConfigurationFlags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workspace: string;
  /** Null when it is unknown: then there is no user file. */
  readonly homeDirectory: string | null;
};

export type Configuration = {
  readonly workspace: string;
  /** Where this user's own configuration lies; null when there is no home. */
  readonly userDirectory: string | null;
  /** As far as it is known; `requireProvider` says whether that is enough for a turn. */
  readonly provider: ProviderOptions;
  /** The part of it that flags or environment name: a recovery takes the rest from its session. */
  readonly providerChoice: Partial<ProviderOptions>;
  /** The keys that the environment holds, by provider. */
  readonly providerKeys: Readonly<Record<string, string>>;
  readonly keyRequired: boolean;
  readonly protocol: ProtocolName;
  readonly protocolReason: string;
  readonly mode: Mode;
  readonly projectId: string | null;
  /** Null when nobody chose: then it depends on whether there is a terminal. */
  readonly recover: RecoverChoice | null;
  readonly approve: ApproveChoice;
  readonly conversation: ConversationChoice;
  readonly settings: Partial<Settings>;
  /** Null when no spans are wanted. */
  readonly telemetry: TelemetryOptions | null;
  readonly json: boolean;
  readonly showContent: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
  /** Sentences for the person: what was left out, and why. */
  readonly notices: readonly string[];
};

const MODES: readonly string[] = ['plan', 'act'];
const APPROVE_CHOICES: readonly string[] = ['auto', 'ask', 'never'];
const RECOVER_CHOICES: readonly string[] = ['ask', 'yes', 'no'];

/** Settings of which a workspace file may lower the value: it can cost its user nothing but a shorter run. */
const LIMITS: readonly (keyof Settings)[] = [
  'maxBytes',
  'maxIdlePrompts',
  'maxDuplicateAttempts',
  'maxIdleToolPhases',
  'maxIterations',
  'maxPhaseCycles',
  'maxToolsPerToolPhase',
  'controllerMaxTurns',
  'controllerMaxCallsPerStep',
  'controllerMaxInvalid',
  'stopSeconds',
  'stopTokens',
  'maxTurns',
  'maxSeconds',
  'maxTokens',
];

/** The variables of the providers that have an address and a key of their own. */
const VENDORS: Readonly<Record<string, { readonly key: string; readonly baseUrl: string }>> = {
  openai: { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  'openai-responses': { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  anthropic: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
};

type Named<T> = { readonly value: T; readonly source: string };

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
  const environment = withoutEmpty(request.environment);
  const folder = configurationFolder(environment, request.homeDirectory);
  const userFile = folder === null ? '' : join(folder, 'config.json');
  const user = folder === null ? null : await readConfigurationFile(userFile);
  const workspaceFile = join(workspace, WORKSPACE_FILE);
  const found = await readHashedConfigurationFile(workspaceFile, workspace);
  // Whoever made the workspace could otherwise keep its user from working in it.
  const unusable = found instanceof UnusableFile ? found : null;
  const read = found instanceof UnusableFile ? null : found;
  const project = read?.configuration ?? null;
  const trust = read === null ? 'unknown' : await trustOf(folder, workspace, read.sha256);
  const trusted = trust === 'trusted' ? project : null;

  const fromEnvironment = settingsFromEnvironment(environment);
  const fromUser = user?.settings ?? {};
  const limits = tighterLimits(project?.settings ?? {}, { ...fromUser, ...fromEnvironment });
  const settings: Partial<Settings> = {
    ...fromUser,
    ...limits,
    ...trusted?.settings,
    ...fromEnvironment,
    ...(flags.allowPaths === undefined ? {} : { allowPaths: flags.allowPaths }),
    ...(flags.allowHardLink === undefined ? {} : { allowHardLink: flags.allowHardLink }),
    ...(flags.allowOmissions === undefined ? {} : { allowOmissions: flags.allowOmissions }),
    ...limitFlags(flags),
  };

  const mode = firstNamed([
    ['--mode', flags.mode],
    ['ORION_MODE', environment['ORION_MODE']],
    [workspaceFile, project?.mode],
    [userFile, user?.mode],
  ]);
  const recover = firstNamed([
    ['--recover', flags.recover],
    ['ORION_RECOVER', environment['ORION_RECOVER']],
    [workspaceFile, recoverInFile(trusted)],
    [userFile, recoverInFile(user)],
  ]);
  const approve = firstNamed([
    ['--approve', flags.approve],
    ['ORION_APPROVE', environment['ORION_APPROVE']],
    [workspaceFile, trusted?.approve],
    [userFile, user?.approve],
  ]);
  const projectId = firstNamed([
    ['--project-id', flags.projectId],
    ['ORION_PROJECT_ID', environment['ORION_PROJECT_ID']],
    [workspaceFile, trusted?.projectId],
    [userFile, user?.projectId],
  ]);
  const protocol = chooseProtocol([
    ['--protocol', flags.protocol],
    ['ORION_PROTOCOL', environment['ORION_PROTOCOL']],
    ['TWO_STAGE_ENABLED', twoStage(environment)],
    [workspaceFile, project?.protocol],
    [userFile, user?.protocol],
  ]);
  const provider = await chooseProvider({
    flags,
    environment,
    project,
    trusted,
    user,
    workspaceFile,
    userFile,
  });

  const switchOf = (name: 'showContent' | 'verbose' | 'quiet', variable: string): boolean =>
    flags[name] ??
    booleanVariable(environment, variable) ??
    trusted?.[name] ??
    user?.[name] ??
    false;

  return {
    workspace,
    userDirectory: folder,
    provider: provider.options,
    providerChoice: provider.choice,
    providerKeys: keysOf(environment),
    keyRequired: provider.keyRequired,
    protocol: protocol.value,
    protocolReason: protocol.source,
    mode: mode === undefined ? 'act' : (oneOf(mode, MODES) as Mode),
    projectId: projectId?.value ?? null,
    recover: recover === undefined ? null : (oneOf(recover, RECOVER_CHOICES) as RecoverChoice),
    approve: approve === undefined ? 'auto' : (oneOf(approve, APPROVE_CHOICES) as ApproveChoice),
    conversation: chooseConversation(flags, environment),
    settings,
    telemetry: telemetryOptions(settings, environment),
    json: flags.json ?? booleanVariable(environment, 'ORION_JSON') ?? false,
    showContent: switchOf('showContent', 'ORION_SHOW_CONTENT'),
    verbose: switchOf('verbose', 'ORION_VERBOSE'),
    quiet: switchOf('quiet', 'ORION_QUIET'),
    notices: [
      ...(unusable === null
        ? []
        : [`${workspaceFile} was not used: ${unusable.reason}. Correct or remove it.`]),
      ...(project === null || trusted !== null
        ? []
        : ignoredKeys(workspaceFile, keysNeedingTrust(project, limits), trust)),
    ],
  };
}

/** The provider of a turn. Throws MODEL_MISSING or API_KEY_MISSING when something is left to say. */
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
  if (provider.model === undefined) {
    throw new OrionError({
      code: 'MODEL_MISSING',
      message: 'No model was named, and there is no default one.',
    });
  }
  if (configuration.keyRequired && provider.apiKey === undefined) {
    const variable = VENDORS[provider.type ?? 'openai']?.key;
    throw new OrionError({
      code: 'API_KEY_MISSING',
      message: 'There is no API key.',
      ...(variable === undefined
        ? {}
        : { hint: `Set ${variable}, or name your own server with --base-url.` }),
    });
  }
  return provider;
}

/**
 * The provider of a recovery: what flags and environment name, and the keys. Model and address that are left out are
 * the session's own.
 */
export function recoveryProvider(configuration: Configuration): ProviderOptions {
  const { script } = configuration.provider;
  return {
    ...configuration.providerChoice,
    keys: configuration.providerKeys,
    ...(script === undefined ? {} : { script }),
  };
}

function firstNamed<T>(
  candidates: readonly (readonly [source: string, value: T | undefined])[],
): Named<T> | undefined {
  for (const [source, value] of candidates) {
    if (value !== undefined) return { value, source };
  }
  return undefined;
}

function invalid({ source, value }: Named<string>, expected: string): OrionError {
  return new OrionError({
    code: 'CONFIG_INVALID',
    message: `${source}: ${JSON.stringify(value)} must be ${expected}.`,
    hint: `Correct ${source} and start again.`,
  });
}

function oneOf(named: Named<string>, values: readonly string[]): string {
  const value = named.value.trim().toLowerCase();
  if (!values.includes(value)) throw invalid(named, `one of ${values.join(', ')}`);
  return value;
}

function booleanVariable(
  environment: Readonly<Record<string, string>>,
  name: string,
): boolean | undefined {
  const text = environment[name];
  if (text === undefined) return undefined;
  return oneOf({ value: text, source: name }, ['true', 'false']) === 'true';
}

function chooseConversation(
  flags: ConfigurationFlags,
  environment: Readonly<Record<string, string>>,
): ConversationChoice {
  if (flags.continue === true && flags.resume !== undefined) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: '--continue and --resume exclude each other.',
      hint: 'Use --continue for the latest conversation, --resume <id> for any other.',
    });
  }
  // A flag decides alone; of the variables the one that names a conversation is the more precise.
  const resume =
    flags.continue === true ? undefined : (flags.resume ?? environment['ORION_RESUME']);
  if (resume !== undefined) return { kind: 'named', conversationId: resume };
  const latest = flags.continue ?? booleanVariable(environment, 'ORION_CONTINUE') ?? false;
  return { kind: latest ? 'latest' : 'new' };
}

function twoStage(environment: Readonly<Record<string, string>>): string | undefined {
  return booleanVariable(environment, 'TWO_STAGE_ENABLED') === true ? 'two-stage' : undefined;
}

function chooseProtocol(candidates: Parameters<typeof firstNamed<string>>[0]): Named<ProtocolName> {
  const named = firstNamed(candidates);
  if (named === undefined) return { value: 'standard', source: 'default' };
  return { value: protocolNamed(named.value, named.source), source: named.source };
}

function limitFlags(flags: ConfigurationFlags): Partial<Settings> {
  const { maxTurns, maxSeconds, maxTokens, maxBytes } = flags;
  return {
    ...(maxTurns === undefined ? {} : settingFromFlag('maxTurns', '--max-turns', maxTurns)),
    ...(maxSeconds === undefined ? {} : settingFromFlag('maxSeconds', '--max-seconds', maxSeconds)),
    ...(maxTokens === undefined ? {} : settingFromFlag('maxTokens', '--max-tokens', maxTokens)),
    ...(maxBytes === undefined ? {} : settingFromFlag('maxBytes', '--max-bytes', maxBytes)),
  };
}

type ProviderSources = {
  readonly flags: ConfigurationFlags;
  readonly environment: Readonly<Record<string, string>>;
  readonly project: FileConfiguration | null;
  /** The same, once the user has accepted it. */
  readonly trusted: FileConfiguration | null;
  readonly user: FileConfiguration | null;
  readonly workspaceFile: string;
  readonly userFile: string;
};

type ChosenProvider = {
  readonly options: ProviderOptions;
  readonly choice: Partial<ProviderOptions>;
  readonly keyRequired: boolean;
};

async function chooseProvider(sources: ProviderSources): Promise<ChosenProvider> {
  const { flags, environment, project, trusted, user, workspaceFile, userFile } = sources;
  const name: Named<string> = firstNamed([
    ['--provider', flags.provider],
    ['--script', flags.script === undefined ? undefined : 'scripted'],
    ['ORION_PROVIDER', environment['ORION_PROVIDER']],
    ['ADAPTER_TYPE', environment['ADAPTER_TYPE']],
    [workspaceFile, trusted?.provider],
    [userFile, user?.provider],
  ]) ?? { value: 'openai', source: 'default' };
  const meaning = providerNamed(name.value.trim());
  if (meaning === undefined) {
    throw new OrionError({
      code: 'PROVIDER_UNKNOWN',
      message: `${name.source}: there is no provider ${JSON.stringify(name.value)}.`,
      hint: `Choose one of: ${[...PROVIDER_NAMES, ...Object.keys(MODEL_ALIASES)].join(', ')}.`,
    });
  }
  if (flags.script !== undefined && meaning.provider !== 'scripted') {
    throw invalid(
      { source: '--script', value: flags.script },
      'left out: it is for the scripted provider',
    );
  }

  // An alias such as `deepseek` names a model and a server too, and ranks as the place where it was said.
  const saidByFlag = name.source === '--provider' ? meaning : undefined;
  const saidByVariable = environment[name.source] === undefined ? undefined : meaning;
  const saidInFile = [workspaceFile, userFile].includes(name.source) ? meaning : undefined;
  const vendor = VENDORS[meaning.provider];
  const model = firstNamed([
    ['--model', flags.model],
    ['--provider', saidByFlag?.model],
    ['ORION_MODEL', environment['ORION_MODEL']],
    [name.source, saidByVariable?.model],
    [workspaceFile, project?.model],
    [userFile, user?.model],
    [userFile, saidInFile?.model],
  ]);
  const baseUrl = firstNamed([
    ['--base-url', flags.baseUrl],
    ['--provider', saidByFlag?.baseUrl],
    ['ORION_BASE_URL', environment['ORION_BASE_URL']],
    ...(vendor === undefined ? [] : [[vendor.baseUrl, environment[vendor.baseUrl]] as const]),
    [name.source, saidByVariable?.baseUrl],
    [workspaceFile, trusted?.baseUrl],
    [userFile, user?.baseUrl],
    [userFile, saidInFile?.baseUrl],
  ]);
  if (baseUrl !== undefined) checkUrl(baseUrl);
  const script = meaning.provider === 'scripted' ? await readScript(flags, environment) : undefined;
  const apiKey = keysOf(environment)[meaning.provider];

  const options: ProviderOptions = {
    type: meaning.provider,
    ...(model === undefined ? {} : { model: model.value }),
    ...(baseUrl === undefined ? {} : { baseUrl: baseUrl.value }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(script === undefined ? {} : { script }),
  };
  const chosen = (named: Named<string> | undefined): boolean =>
    named !== undefined && (named.source.startsWith('--') || named.source in environment);
  return {
    options,
    choice: {
      ...(chosen(name) ? { type: options.type } : {}),
      ...(chosen(model) && options.model !== undefined ? { model: options.model } : {}),
      ...(chosen(baseUrl) && options.baseUrl !== undefined ? { baseUrl: options.baseUrl } : {}),
    },
    // The address behind an alias is the provider's own, not a server of the user's.
    keyRequired:
      vendor !== undefined && (baseUrl === undefined || baseUrl.value === meaning.baseUrl),
  };
}

/** Each provider's own key, so that none is ever sent to another one. */
function keysOf(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(VENDORS).flatMap(([provider, { key }]) => {
      const value = environment[key];
      return value === undefined ? [] : [[provider, value] as const];
    }),
  );
}

/** What a provider's name stands for: itself, or an alias that names a model and perhaps a server too. */
function providerNamed(
  name: string,
): { readonly provider: string; readonly model?: string; readonly baseUrl?: string } | undefined {
  if (PROVIDER_NAMES.includes(name)) return { provider: name };
  return Object.hasOwn(MODEL_ALIASES, name) ? MODEL_ALIASES[name] : undefined;
}

function checkUrl(named: Named<string>): void {
  const url = URL.parse(named.value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid(named, 'a URL that begins with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    // Not repeated in the message: it is a secret, and base URLs are stored with a session.
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: `${named.source}: a base URL must not hold a user name or password.`,
      hint: 'Give the key in OPENAI_API_KEY or ANTHROPIC_API_KEY.',
    });
  }
}

async function readScript(
  flags: ConfigurationFlags,
  environment: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const file = flags.script ?? environment['ORION_SCRIPT'];
  if (file === undefined) return undefined;
  const name = `The script ${JSON.stringify(file)}`;
  try {
    const bytes = await readTypedFile(resolve(file), MAX_SCRIPT_BYTES);
    if (bytes !== null) return bytes.toString('utf8');
  } catch (error) {
    throw new OrionError({
      code: 'SCRIPT_INVALID',
      message: `${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}).`,
      cause: error,
    });
  }
  throw new OrionError({
    code: 'SCRIPT_INVALID',
    message: `${name} has more than ${MAX_SCRIPT_BYTES} bytes.`,
  });
}

const MAX_SCRIPT_BYTES: number = 64 * 1024 * 1024;

/** The limits of a workspace file that are below what would hold without it. */
function tighterLimits(project: Partial<Settings>, others: Partial<Settings>): Partial<Settings> {
  const limits: Record<string, unknown> = {};
  for (const name of LIMITS) {
    const limit = project[name];
    const current = name in others ? others[name] : DEFAULT_SETTINGS[name];
    if (typeof limit === 'number' && (typeof current !== 'number' || limit <= current)) {
      limits[name] = limit;
    }
  }
  return limits as Partial<Settings>;
}

/** What of a workspace file takes effect only once it is accepted. */
function keysNeedingTrust(
  project: FileConfiguration,
  limits: Partial<Settings>,
): readonly string[] {
  const { settings, model: _model, protocol: _protocol, mode: _mode, ...others } = project;
  return [...Object.keys(others), ...Object.keys(settings).filter((name) => !(name in limits))];
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

/** In a file `ask` says no more than the default does; a script must not fail because of it. */
function recoverInFile(file: FileConfiguration | null): string | undefined {
  return file?.recover === 'ask' ? undefined : file?.recover;
}
