import { resolve } from 'node:path';

import { defined, OrionError } from '@orion/contracts';
import { MODEL_ALIASES, PROVIDER_NAMES } from '@orion/llm-adapters';
import { readTypedFile } from '@orion/workspace';

import type { ProviderOptions } from '../orion.ts';
import { configurationError, urlProblem } from './configuration-error.ts';
import type { FileConfiguration } from './configuration-file.ts';
import type { ConfigurationFlags, Sources } from './configuration-sources.ts';
import { firstNamed, invalid, spelled } from './named-value.ts';
import type { Named } from './named-value.ts';

/** The variables of the providers that have an address and a key of their own. */
export const VENDORS: Readonly<Record<string, { readonly key: string; readonly baseUrl: string }>> =
  {
    openai: { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
    'openai-responses': { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
    anthropic: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
  };

type ChosenProvider = {
  readonly options: ProviderOptions;
  readonly choice: Partial<ProviderOptions>;
  readonly keyRequired: boolean;
};

/** The provider that was named first, with what else was said of it. */
export async function chooseProvider(sources: Sources): Promise<ChosenProvider> {
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
  const said = (
    key: 'model' | 'baseUrl',
    ofWorkspace: FileConfiguration | null,
    own?: string,
  ): Named<string> | undefined => {
    const { flag, variable } = spelled(key);
    return firstNamed([
      [flag, flags[key]],
      ['--provider', saidByFlag?.[key]],
      [variable, environment[variable]],
      ...(own === undefined ? [] : [[own, environment[own]] as const]),
      [name.source, saidByVariable?.[key]],
      [workspaceFile, ofWorkspace?.[key]],
      [userFile, user?.[key]],
      [userFile, saidInFile?.[key]],
    ]);
  };
  const model = said('model', project);
  const baseUrl = said('baseUrl', trusted, vendor?.baseUrl);
  if (baseUrl !== undefined) checkUrl(baseUrl);
  const script = meaning.provider === 'scripted' ? await readScript(flags, environment) : undefined;
  const apiKey = keysOf(environment)[meaning.provider];

  const options: ProviderOptions = {
    type: meaning.provider,
    ...defined({ model: model?.value, baseUrl: baseUrl?.value, apiKey, script }),
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
export function keysOf(
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
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
  const problem = urlProblem(named.value);
  if (problem === 'not_http') throw invalid(named, 'a URL that begins with http:// or https://');
  if (problem === 'holds_secret') {
    // Not repeated in the message: it is a secret, and base URLs are stored with a session.
    throw configurationError(
      `${named.source}: a base URL must not hold a user name or password.`,
      'Give the key in OPENAI_API_KEY or ANTHROPIC_API_KEY.',
    );
  }
}

async function readScript(
  flags: ConfigurationFlags,
  environment: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const file = flags.script ?? environment['ORION_SCRIPT'];
  if (file === undefined) return undefined;
  const unusable = (what: string, cause?: unknown): OrionError =>
    new OrionError({
      code: 'SCRIPT_INVALID',
      message: `The script ${JSON.stringify(file)} ${what}.`,
      cause,
    });
  let bytes: Buffer | null;
  try {
    bytes = await readTypedFile(resolve(file), MAX_SCRIPT_BYTES);
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw unusable(`cannot be read (${code})`, error);
  }
  if (bytes === null) throw unusable(`has more than ${MAX_SCRIPT_BYTES} bytes`);
  return bytes.toString('utf8');
}

const MAX_SCRIPT_BYTES: number = 64 * 1024 * 1024;
