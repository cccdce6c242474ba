import { join } from 'node:path';

import {
  readConfigurationFile,
  readHashedConfigurationFile,
  type UnusableFile,
  type FileConfiguration,
} from './configuration-file.ts';
import {
  configurationFolder,
  USER_FILE,
  withoutEmpty,
  WORKSPACE_FILE,
} from './configuration-folder.ts';
import { trustOf, type Trust } from './workspace-trust.ts';

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
  /** Continue the latest conversation. */
  readonly continue?: boolean;
  /** Continue this conversation. */
  readonly resume?: string;
  readonly allowPaths?: readonly string[];
  readonly allowHardLink?: boolean;
  readonly allowCommands?: readonly string[];
  readonly approveCommands?: string;
  readonly sandbox?: string;
  readonly allowNetwork?: boolean;
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
  /** Print lines and redraw nothing. */
  readonly plain?: boolean;
  /** Do not ring when a turn has ended. */
  readonly noBell?: boolean;
};

export type ConfigurationRequest = {
  readonly flags: ConfigurationFlags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workspace: string;
  /** Null when it is unknown: then there is no user file. */
  readonly homeDirectory: string | null;
};

/** What each place says that has a word in the configuration. */
export type Sources = {
  readonly flags: ConfigurationFlags;
  readonly environment: Readonly<Record<string, string>>;
  readonly project: FileConfiguration | null;
  /** The same, once the user has accepted it. */
  readonly trusted: FileConfiguration | null;
  readonly user: FileConfiguration | null;
  readonly workspaceFile: string;
  readonly userFile: string;
};

/** What the four places say, and how far the workspace's file may be believed. */
export async function readSources({
  flags,
  workspace,
  homeDirectory,
  ...request
}: ConfigurationRequest): Promise<{
  readonly sources: Sources;
  readonly folder: string | null;
  readonly unusable: UnusableFile | null;
  readonly trust: Trust;
}> {
  const environment = withoutEmpty(request.environment);
  const folder = configurationFolder(environment, homeDirectory);
  const userFile = folder === null ? '' : join(folder, USER_FILE);
  const user = folder === null ? null : await readConfigurationFile(userFile);
  const workspaceFile = join(workspace, WORKSPACE_FILE);
  const found = await readHashedConfigurationFile(workspaceFile, workspace);
  // Whoever made the workspace could otherwise keep its user from working in it.
  const [unusable, read] = found !== null && 'reason' in found ? [found, null] : [null, found];
  const project = read?.configuration ?? null;
  const trust = read === null ? 'unknown' : await trustOf(folder, workspace, read.sha256);
  const trusted = trust === 'trusted' ? project : null;
  const sources = { flags, environment, project, trusted, user, workspaceFile, userFile };
  return { sources, folder, unusable, trust };
}
