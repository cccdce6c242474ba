import { join } from 'node:path';

import { defined } from '@orion/contracts';

import { configurationError } from './configuration-error.ts';
import {
  optionsNeedingTrust,
  readHashedConfigurationFile,
  unusable,
} from './configuration-file.ts';
import type { ConfigurationRequest } from './configuration-sources.ts';
import { configurationFolder, withoutEmpty, WORKSPACE_FILE } from './configuration-folder.ts';
import { setTrust } from './workspace-trust.ts';

/** Without a home folder nothing can be accepted. */
export type TrustRequest = Omit<ConfigurationRequest, 'flags'> & {
  /** Milliseconds since the epoch. */
  readonly now: number;
};

export type TrustReport = {
  readonly file: string;
  readonly sha256: string;
  /** What takes effect by it, besides model, protocol and mode; without what may be a secret. */
  readonly settings: Readonly<Record<string, unknown>>;
};

/**
 * Accepts a workspace's `orion.config.json` as it is now; null when there is none. Rejects with CONFIG_INVALID when it
 * is not valid, or when there is no home folder to store the acceptance in; with WRITE_FAILED when writing it fails.
 */
export async function trustWorkspace(request: TrustRequest): Promise<TrustReport | null> {
  const folder = requireFolder(request);
  const file = join(request.workspace, WORKSPACE_FILE);
  const read = await readHashedConfigurationFile(file, request.workspace);
  if (read === null) return null;
  if ('reason' in read) throw unusable(read);
  await setTrust(folder, request.workspace, read.sha256, request.now);
  const { sha256, configuration } = read;
  const { databaseUrl, ...settings } = configuration.settings;
  const secret = defined({ databaseUrl: databaseUrl === undefined ? undefined : '(set)' });
  return {
    file,
    sha256,
    settings: { ...optionsNeedingTrust(configuration), ...settings, ...secret },
  };
}

/** Withdraws the acceptance, if there is one. */
export async function distrustWorkspace(request: TrustRequest): Promise<void> {
  await setTrust(requireFolder(request), request.workspace, null, request.now);
}

function requireFolder({ environment, homeDirectory }: TrustRequest): string {
  const folder = configurationFolder(withoutEmpty(environment), homeDirectory);
  if (folder !== null) return folder;
  throw configurationError(
    'There is no home folder in which it could be remembered.',
    'Set HOME or XDG_CONFIG_HOME.',
  );
}
