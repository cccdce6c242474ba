import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { parse } from 'node:path';

import { MAX_JSON_DEPTH, isFields, nestsDeeper } from '@orion/contracts';
import type { OrionError } from '@orion/contracts';
import { readForeignFile } from '@orion/workspace';

import { checkEach, configurationError } from './configuration-error.ts';
import { readMcpEntries, type McpEntries } from './mcp-servers.ts';
import { readProjectEntries } from './project-entries.ts';
import { isSettingName, settingFromFile, type Settings } from './settings.ts';

const OPTION_TYPES = {
  provider: 'string',
  model: 'string',
  baseUrl: 'string',
  protocol: 'string',
  mode: 'string',
  projectId: 'string',
  recover: 'string',
  approve: 'string',
  showContent: 'boolean',
  verbose: 'boolean',
  quiet: 'boolean',
  plain: 'boolean',
  noBell: 'boolean',
} as const;

type Options = {
  readonly [Name in keyof typeof OPTION_TYPES]?: (typeof OPTION_TYPES)[Name] extends 'boolean'
    ? boolean
    : string;
};

/** What a configuration file may say. `settings` are written as keys of their own, beside the others. */
export type FileConfiguration = Options & {
  readonly settings: Partial<Settings>;
  readonly mcpServers?: McpEntries;
  /** Folders by name; only the user's own file is asked for them. */
  readonly projects?: Readonly<Record<string, string>>;
};

/** What takes effect, of a workspace's file, only once it is accepted: its settings aside. */
export function optionsNeedingTrust(
  file: FileConfiguration,
): Omit<FileConfiguration, 'settings' | 'projects'> {
  const { settings: _settings, projects: _projects, ...options } = file;
  const { model: _model, protocol: _protocol, mode: _mode, ...others } = options;
  return others;
}

/** A configuration has some lines; anything larger is not one. */
const MAX_FILE_BYTES: number = 1024 * 1024;

/** A file that cannot be read; `reason` completes "because …". */
export type UnusableFile = { readonly file: string; readonly reason: string };

/** `within`: a link may lead to a file below this folder, and nowhere else. */
async function readJson(
  file: string,
  within: string,
): Promise<{ readonly json: unknown; readonly sha256: string } | UnusableFile | null> {
  const read = await readForeignFile(
    file,
    MAX_FILE_BYTES,
    await realpath(within).catch(() => within),
  );
  if (read.kind === 'missing') return null;
  if (read.kind === 'refused') return { file, reason: read.reason };
  const { bytes } = read;
  // Of the very bytes that are parsed: what is accepted is what takes effect.
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const text = bytes.toString('utf8').replace(/^\uFEFF/u, '');
  if (nestsDeeper(text, MAX_JSON_DEPTH)) {
    throw incorrect(file, `is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  try {
    return { json: JSON.parse(text) as unknown, sha256 };
  } catch (error) {
    throw incorrect(file, `is not valid JSON: ${(error as Error).message}`, error);
  }
}

function incorrect(file: string, what: string, cause?: unknown): OrionError {
  return configurationError(`${file} ${what}`, `Correct ${file} and start again.`, cause);
}

/**
 * The user's own file, checked key by key; null when there is no such file. A link may lead anywhere: the user
 * made it.
 */
export async function readConfigurationFile(file: string): Promise<FileConfiguration | null> {
  const read = await readHashedConfigurationFile(file, parse(file).root);
  if (read !== null && 'reason' in read) throw unusable(read);
  return read?.configuration ?? null;
}

export function unusable({ file, reason }: UnusableFile): OrionError {
  return configurationError(
    `${file} cannot be used: ${reason}.`,
    `Make ${file} a readable file, or remove it.`,
  );
}

/** The same with the hash of its bytes; links may only lead to files in `within`. */
export async function readHashedConfigurationFile(
  file: string,
  within: string,
): Promise<
  { readonly configuration: FileConfiguration; readonly sha256: string } | UnusableFile | null
> {
  const read = await readJson(file, within);
  if (read === null || 'reason' in read) return read;
  const { json, sha256 } = read;
  if (!isFields(json)) throw incorrect(file, 'must hold one JSON object.');
  const options: Record<string, unknown> = {};
  let settings: Partial<Settings> = {};
  checkEach(Object.entries(json), ([key, value]) => {
    if (key === '$schema') return;
    if (key === 'mcpServers') {
      options[key] = readMcpEntries(value, file);
    } else if (key === 'projects') {
      options[key] = readProjectEntries(value, file);
    } else if (isSettingName(key)) {
      settings = { ...settings, ...settingFromFile(key, value, file) };
    } else if (Object.hasOwn(OPTION_TYPES, key)) {
      const expected = OPTION_TYPES[key as keyof typeof OPTION_TYPES];
      if (typeof value !== expected || value === '') {
        throw configurationError(
          `${file}: ${key} is ${JSON.stringify(value)}, but must be a ${expected}.`,
          `Correct or remove ${key} in ${file} and start again.`,
        );
      }
      options[key] = value;
    } else {
      throw configurationError(
        `${file}: ${JSON.stringify(key)} is no setting.`,
        `Remove it, or choose one of: ${Object.keys(OPTION_TYPES).join(', ')}, mcpServers, projects, or a setting of the documentation.`,
      );
    }
  });
  return { configuration: { ...options, settings }, sha256 };
}
