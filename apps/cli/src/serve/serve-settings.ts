import { defined } from '@orion/contracts';

import type { ServeFlags } from '../command-line/serve-options.ts';

/** What the command line and the environment say of the server itself. */
export type ServeSettings = {
  readonly listen: {
    readonly host?: string;
    readonly port?: number;
    readonly token?: string;
    readonly allowHosts?: readonly string[];
    readonly trustProxies?: readonly string[];
    readonly basePath?: string;
    readonly logLevel?: LogLevel;
    readonly limits?: TurnRates & { readonly turns?: number };
    readonly projectLimits?: ProjectLimits;
    readonly queue?: (typeof QUEUES)[number];
  };
  /** How many processes serve; null: this one. */
  readonly workers: number | null;
  /** What turns in progress get after the request to stop. */
  readonly drainMs: number;
  /** A sentence about each value that is none; it is left out of the rest. */
  readonly problems: readonly string[];
};

/** By project. What is in it is checked by the server. */
type ProjectLimits = Readonly<Record<string, object>>;

/** Turns that begin in a minute, by protocol. */
type TurnRates = {
  readonly standardTurnsPerMinute?: number;
  readonly twoStageTurnsPerMinute?: number;
  readonly controllerTurnsPerMinute?: number;
};

const RATE_NAMES = {
  standard: 'standardTurnsPerMinute',
  'two-stage': 'twoStageTurnsPerMinute',
  two_stage: 'twoStageTurnsPerMinute',
  controller: 'controllerTurnsPerMinute',
} as const satisfies Record<string, keyof TurnRates>;

type LogLevel = (typeof LOG_LEVELS)[number];

const RATE = /^[1-9]\d{0,8}$/u;
const PROTOCOLS = ['standard', 'two-stage', 'controller'] as const;

const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
const QUEUES = ['pg-boss', 'in-process'] as const;
const DRAIN_SECONDS = 30;
const MAX_DRAIN_SECONDS = 86_400;
const MAX_PORT = 65_535;
const MAX_WORKERS = 64;
const MAX_RUNNING_TURNS = 100_000;

/** A flag decides before its variable. */
export function serveSettings(
  flags: ServeFlags,
  environment: Readonly<Record<string, string | undefined>>,
): ServeSettings {
  const problems: string[] = [];
  const said = (flag: keyof ServeFlags, name: string): string | undefined =>
    typeof flags[flag] === 'string' ? flags[flag] : environment[name]?.trim() || undefined;
  const wholeNumber = (
    source: string,
    text: string | undefined,
    max: number,
    min = 0,
  ): number | undefined => {
    if (text === undefined) return undefined;
    const number = Number(text);
    if (/^\d{1,9}$/u.test(text) && number >= min && number <= max) return number;
    const given = JSON.stringify(text);
    problems.push(`${source}: ${given} must be a whole number from ${min} to ${max}.`);
    return undefined;
  };
  const oneOf = <Choice extends string>(
    what: string,
    choices: readonly Choice[],
    text: string | undefined,
  ): Choice | undefined => {
    const found = choices.find((each) => each === text);
    if (text !== undefined && found === undefined)
      problems.push(`${what} ${JSON.stringify(text)} must be one of ${choices.join(', ')}.`);
    return found;
  };
  const list = (flag: readonly string[] | undefined, name: string): readonly string[] | undefined =>
    flag ??
    environment[name]
      ?.split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');

  const drainSeconds = wholeNumber(
    'ORION_DRAIN_SECONDS',
    environment['ORION_DRAIN_SECONDS']?.trim() || undefined,
    MAX_DRAIN_SECONDS,
  );
  return {
    listen: defined({
      host: said('host', 'ORION_HOST'),
      port: wholeNumber('The port', said('port', 'ORION_PORT'), MAX_PORT),
      token: environment['ORION_SERVER_TOKEN']?.trim() || undefined,
      allowHosts: list(flags.allowHost, 'ORION_ALLOW_HOST'),
      trustProxies: list(flags.trustProxy, 'ORION_TRUST_PROXY'),
      basePath: said('basePath', 'ORION_BASE_PATH'),
      logLevel: oneOf('The log level', LOG_LEVELS, said('logLevel', 'ORION_LOG_LEVEL')),
      queue: oneOf(
        'The queue (ORION_QUEUE)',
        QUEUES,
        environment['ORION_QUEUE']?.trim() || undefined,
      ),
      limits: {
        ...turnRates(environment['ORION_TURNS_PER_MINUTE']?.trim() || undefined, problems),
        ...defined({
          turns: wholeNumber(
            'ORION_RUNNING_TURNS',
            environment['ORION_RUNNING_TURNS']?.trim() || undefined,
            MAX_RUNNING_TURNS,
            1,
          ),
        }),
      },
      projectLimits: projectLimits(
        environment['ORION_PROJECT_LIMITS']?.trim() || undefined,
        problems,
      ),
    }),
    workers: wholeNumber('--workers', flags.workers, MAX_WORKERS, 1) ?? null,
    drainMs: 1000 * (drainSeconds ?? DRAIN_SECONDS),
    problems,
  };
}

/** `{"*": {"running": 20}}` as JSON. */
function projectLimits(text: string | undefined, problems: string[]): ProjectLimits | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as ProjectLimits;
  } catch {
    // It is said below.
  }
  problems.push(
    'ORION_PROJECT_LIMITS must be an object in JSON with limits by project, as in {"*": {"running": 20}}.',
  );
  return undefined;
}

/** `600` for each protocol, or `standard=600,two-stage=60`. */
function turnRates(text: string | undefined, problems: string[]): TurnRates | undefined {
  if (text === undefined) return undefined;
  const all = RATE.exec(text)?.[0];
  const items = all === undefined ? text.split(',') : PROTOCOLS.map((name) => `${name}=${all}`);
  const rates: Record<string, number> = {};
  for (const item of items) {
    const [name = '', rate = ''] = item.split('=').map((part) => part.trim());
    if (Object.hasOwn(RATE_NAMES, name) && RATE.test(rate))
      rates[RATE_NAMES[name as keyof typeof RATE_NAMES]] = Number(rate);
    else
      problems.push(
        `ORION_TURNS_PER_MINUTE: ${JSON.stringify(item.trim())} must be a number from 1, or one of ` +
          `${PROTOCOLS.join(', ')} with such a number, as in two-stage=60.`,
      );
  }
  return rates;
}
