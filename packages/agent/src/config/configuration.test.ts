import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { OrionError } from '@orion/contracts';
import { beforeEach, describe, expect, it } from 'vitest';

import {
  loadConfiguration,
  recoveryProvider,
  requireProvider,
  type Configuration,
} from './configuration.ts';
import type { ConfigurationFlags } from './configuration-sources.ts';
import { distrustWorkspace, trustWorkspace, type TrustRequest } from './trust-workspace.ts';
import { temporaryDirectory } from '../testing/set-up.ts';

let folder: string;
let workspace: string;
let home: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  workspace = join(folder, 'workspace');
  home = join(folder, 'home');
  await mkdir(workspace);
  await mkdir(join(home, '.config', 'orion'), { recursive: true });
});

type Sources = {
  readonly flags?: ConfigurationFlags;
  readonly environment?: Record<string, string>;
  readonly project?: unknown;
  readonly user?: unknown;
};

async function load(sources: Sources): Promise<Configuration> {
  const { flags = {}, environment = {}, project, user } = sources;
  if (project !== undefined) await writeJson(join(workspace, 'orion.config.json'), project);
  if (user !== undefined) await writeJson(join(home, '.config', 'orion', 'config.json'), user);
  return await loadConfiguration({ flags, environment, workspace, homeDirectory: home });
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
}

async function refusal(work: Promise<unknown> | (() => unknown)): Promise<OrionError> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    if (OrionError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('where write sessions are', () => {
  it('is the state directory, or a database that there is', async () => {
    expect((await load({})).settings.sessions).toBeUndefined();
    const inDatabase = { ORION_SESSIONS: 'database', DATABASE_URL: 'postgres://127.0.0.1/orion' };
    expect((await load({ environment: inDatabase })).settings.sessions).toBe('database');
    const error = await refusal(load({ environment: { ORION_SESSIONS: 'database' } }));
    expect(error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('ORION_SESSIONS=database') as string,
      hint: expect.stringContaining('DATABASE_URL') as string,
    });
  });

  it('is not for a workspace to decide', async () => {
    const { settings, notices } = await load({ project: { sessions: 'database' } });
    expect(settings.sessions).toBeUndefined();
    expect(notices.join(' ')).toContain('sessions');
  });
});

describe('which conversation a turn goes on with', () => {
  it.each<[string, Sources, Configuration['conversation']]>([
    ['none by default', {}, { kind: 'new' }],
    ['the latest', { flags: { continue: true } }, { kind: 'latest' }],
    ['a named one', { flags: { resume: 'c1' } }, { kind: 'named', conversationId: 'c1' }],
    ['ORION_CONTINUE', { environment: { ORION_CONTINUE: 'true' } }, { kind: 'latest' }],
    [
      'ORION_RESUME before ORION_CONTINUE',
      { environment: { ORION_RESUME: 'c2', ORION_CONTINUE: 'true' } },
      { kind: 'named', conversationId: 'c2' },
    ],
    [
      '--resume before ORION_CONTINUE',
      { flags: { resume: 'c1' }, environment: { ORION_CONTINUE: 'true' } },
      { kind: 'named', conversationId: 'c1' },
    ],
    [
      '--continue before ORION_RESUME',
      { flags: { continue: true }, environment: { ORION_RESUME: 'c2' } },
      { kind: 'latest' },
    ],
  ])('%s', async (_, sources, conversation) => {
    expect((await load(sources)).conversation).toEqual(conversation);
  });

  it('is said once', async () => {
    const error = await refusal(load({ flags: { continue: true, resume: 'c1' } }));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(error.message).toContain('--continue and --resume exclude each other');
  });
});

describe('where a value comes from', () => {
  const user = { model: 'user', mode: 'plan', provider: 'deepseek', baseUrl: 'http://user/v1' };
  const project = { model: 'project', mode: 'act' };
  const environment = {
    ORION_MODEL: 'variable',
    ORION_MODE: 'plan',
    ORION_BASE_URL: 'http://variable/v1',
    OPENAI_BASE_URL: 'http://other/v1',
  };
  const flags = { model: 'flag', mode: 'act', baseUrl: 'http://flag/v1' };

  it.each<[string, Sources, string | undefined, string, string | undefined]>([
    ['nowhere', {}, undefined, 'act', undefined],
    ['user file', { user }, 'user', 'plan', 'http://user/v1'],
    ['workspace file', { user, project }, 'project', 'act', 'http://user/v1'],
    ['environment', { user, project, environment }, 'variable', 'plan', 'http://variable/v1'],
    ['flags', { user, project, environment, flags }, 'flag', 'act', 'http://flag/v1'],
    [
      'an empty variable is none',
      { user, environment: { ORION_MODEL: ' ' } },
      'user',
      'plan',
      'http://user/v1',
    ],
  ])('%s', async (_name, sources, model, mode, baseUrl) => {
    const configuration = await load(sources);
    expect(configuration.provider.model).toBe(model);
    expect(configuration.mode).toBe(mode);
    expect(configuration.provider.baseUrl).toBe(baseUrl);
  });

  it.each([
    ['openai', 'open', 'http://open/v1'],
    ['openai-responses', 'open', 'http://open/v1'],
    ['anthropic', 'anthropic', 'http://anthropic'],
  ])('gives %s its own key and address, and nobody else', async (type, apiKey, baseUrl) => {
    const environment = {
      OPENAI_API_KEY: 'open',
      OPENAI_BASE_URL: 'http://open/v1',
      ANTHROPIC_API_KEY: 'anthropic',
      ANTHROPIC_BASE_URL: 'http://anthropic',
    };
    const { provider } = await load({ environment, flags: { provider: type } });
    expect(provider).toEqual({ type, apiKey, baseUrl });
  });

  it('names the variable of the key that is missing', async () => {
    const configuration = await load({ flags: { provider: 'anthropic', model: 'm' } });
    expect(() => requireProvider(configuration)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('ANTHROPIC_API_KEY') }),
    );
  });

  it('takes OPENAI_BASE_URL where no ORION_BASE_URL is', async () => {
    const { provider } = await load({ environment: { OPENAI_BASE_URL: 'http://other/v1' } });
    expect(provider.baseUrl).toBe('http://other/v1');
  });

  it('looks for the user file below XDG_CONFIG_HOME, unless that is relative', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await mkdir(join(elsewhere, 'orion'), { recursive: true });
    await writeJson(join(elsewhere, 'orion', 'config.json'), { model: 'elsewhere' });
    const absolute = await load({
      user: { model: 'home' },
      environment: { XDG_CONFIG_HOME: elsewhere },
    });
    expect(absolute.provider.model).toBe('elsewhere');
    const relative = await load({ environment: { XDG_CONFIG_HOME: 'elsewhere' } });
    expect(relative.provider.model).toBe('home');
  });

  it('does without a user file where there is no home', async () => {
    const { provider } = await loadConfiguration({
      flags: {},
      environment: {},
      workspace,
      homeDirectory: null,
    });
    expect(provider).toEqual({ type: 'openai' });
  });

  it('reads every option from its variable', async () => {
    const configuration = await load({
      environment: {
        ORION_PROVIDER: 'openai',
        ADAPTER_TYPE: 'deepseek',
        ORION_PROTOCOL: 'standard',
        ORION_PROJECT_ID: 'p1',
        ORION_RECOVER: 'no',
        ORION_ALLOW_PATH: '.env, package.json',
        ORION_ALLOW_HARD_LINK: 'TRUE',
        ORION_SHOW_CONTENT: 'true',
        ORION_VERBOSE: 'true',
        ORION_QUIET: 'False',
        WRITE_SESSION_MAX_BYTES: '1000',
      },
    });
    expect(configuration).toMatchObject({
      provider: { type: 'openai' },
      protocol: 'standard',
      protocolReason: 'ORION_PROTOCOL',
      projectId: 'p1',
      recover: 'no',
      settings: { allowPaths: ['.env', 'package.json'], allowHardLink: true, maxBytes: 1000 },
      showContent: true,
      verbose: true,
      quiet: false,
    });
  });

  it('lets flags replace what the environment allows', async () => {
    const { settings } = await load({
      environment: { ORION_ALLOW_PATH: '.env', ORION_ALLOW_HARD_LINK: 'false' },
      flags: { allowPaths: ['.git/**'], allowHardLink: true },
    });
    expect(settings).toMatchObject({ allowPaths: ['.git/**'], allowHardLink: true });
  });

  it('does not take `ask` in a file for an order to ask', async () => {
    expect((await load({ user: { recover: 'ask' } })).recover).toBeNull();
    expect((await load({ environment: { ORION_RECOVER: 'ask' } })).recover).toBe('ask');
  });
});

describe('the workspace file', () => {
  it('decides model, protocol, mode and lower limits without a word', async () => {
    const configuration = await load({
      project: { model: 'm', protocol: 'standard', mode: 'plan', maxBytes: 500, maxIdlePrompts: 3 },
    });
    expect(configuration.settings).toEqual({ maxBytes: 500, maxIdlePrompts: 3 });
    expect(configuration.protocolReason).toBe(join(workspace, 'orion.config.json'));
    expect(configuration.notices).toEqual([]);
  });

  it('cannot choose who gets the text, what is allowed, or a higher limit, and says so once', async () => {
    const configuration = await load({
      user: { maxIdlePrompts: 2 },
      project: {
        baseUrl: 'http://attacker/v1',
        provider: 'deepseek',
        recover: 'yes',
        allowPaths: ['**'],
        allowHardLink: true,
        stateDirectory: '/somewhere',
        maxBytes: 999_999_999_999,
        maxIdlePrompts: 10,
      },
    });
    expect(configuration.provider).toEqual({ type: 'openai' });
    expect(configuration.recover).toBeNull();
    expect(configuration.settings).toEqual({ maxIdlePrompts: 2 });
    expect(configuration.notices).toHaveLength(1);
    expect(configuration.notices[0]).toContain(
      'baseUrl, provider, recover, allowPaths, allowHardLink, stateDirectory, maxBytes, maxIdlePrompts',
    );
  });

  describe('once it is accepted (R261)', () => {
    const project = {
      baseUrl: 'http://team/v1',
      provider: 'scripted',
      approve: 'never',
      allowPaths: ['.env'],
      maxIdlePrompts: 10,
      quiet: true,
    };
    const request = (): TrustRequest => ({
      environment: {},
      workspace,
      homeDirectory: home,
      now: 0,
    });

    it('decides everything, after flags and environment', async () => {
      await writeJson(join(workspace, 'orion.config.json'), project);
      const report = await trustWorkspace(request());
      expect(report?.settings).toEqual(project);
      const configuration = await load({
        project,
        user: { maxIdlePrompts: 2, approve: 'auto', baseUrl: 'http://user/v1' },
        environment: { ORION_ALLOW_PATH: 'package.json' },
      });
      expect(configuration).toMatchObject({
        provider: { type: 'scripted', baseUrl: 'http://team/v1' },
        approve: 'never',
        quiet: true,
        settings: { allowPaths: ['package.json'], maxIdlePrompts: 10 },
        notices: [],
      });
    });

    it('asks again for a file that changed by a byte, and for a copy elsewhere', async () => {
      await writeJson(join(workspace, 'orion.config.json'), project);
      await trustWorkspace(request());
      const changed = await load({ project: `${JSON.stringify(project)} ` });
      expect(changed.approve).toBe('auto');
      expect(changed.notices[0]).toContain('changed since it was accepted');
      const copy = join(folder, 'copy');
      await mkdir(copy);
      await writeJson(join(copy, 'orion.config.json'), project);
      const elsewhere = await loadConfiguration({
        flags: {},
        environment: {},
        workspace: copy,
        homeDirectory: home,
      });
      expect(elsewhere.approve).toBe('auto');
      expect(elsewhere.notices[0]).toContain('orion trust');
    });

    it('can be taken back, and a damaged list accepts nothing', async () => {
      await writeJson(join(workspace, 'orion.config.json'), project);
      await trustWorkspace(request());
      await distrustWorkspace(request());
      expect((await load({ project })).approve).toBe('auto');
      await trustWorkspace(request());
      expect((await load({ project })).approve).toBe('never');
      const list = join(home, '.config', 'orion', 'trusted-workspaces.json');
      for (const text of ['', '[]', '{"version":1,"workspaces":{"x":{"sha256":5}}}']) {
        await writeFile(list, text);
        expect((await load({ project })).approve).toBe('auto');
      }
    });

    it('says what is in the way', async () => {
      expect(await trustWorkspace(request())).toBeNull();
      await writeJson(join(workspace, 'orion.config.json'), { modle: 'x' });
      expect((await refusal(trustWorkspace(request()))).message).toContain('modle');
      const homeless = { ...request(), homeDirectory: null };
      expect((await refusal(trustWorkspace(homeless))).hint).toContain('HOME');
    });
  });

  it('lowers a limit of the user, but not one of the environment', async () => {
    const lower = await load({ user: { maxIdlePrompts: 9 }, project: { maxIdlePrompts: 4 } });
    expect(lower.settings.maxIdlePrompts).toBe(4);
    const { settings } = await load({ environment: { WRITE_SESSION_MAX_IDLE_PROMPTS: '6' } });
    expect(settings.maxIdlePrompts).toBe(6);
  });
});

describe('what is refused, and where it stands', () => {
  it.each<[string, Sources, string, RegExp]>([
    [
      'an unknown key',
      { project: { modle: 'x' } },
      'CONFIG_INVALID',
      /orion\.config\.json.*"modle"/,
    ],
    ['a wrong type', { user: { model: 5 } }, 'CONFIG_INVALID', /config\.json: model is 5/],
    ['a wrong setting', { user: { maxBytes: '5' } }, 'CONFIG_INVALID', /config\.json: maxBytes/],
    ['a list of numbers', { user: { allowPaths: [1] } }, 'CONFIG_INVALID', /allowPaths/],
    [
      'broken JSON',
      { project: '{"model": ' },
      'CONFIG_INVALID',
      /orion\.config\.json is not valid JSON/,
    ],
    ['no object', { project: [] }, 'CONFIG_INVALID', /one JSON object/],
    [
      'JSON that is 100,000 levels deep',
      { project: `{"model":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
      'CONFIG_INVALID',
      /orion\.config\.json is nested deeper than 512 levels\./,
    ],
    ['a prototype key', { project: '{"__proto__": {}}' }, 'CONFIG_INVALID', /__proto__/],
    [
      'a mode in a file',
      { user: { mode: 'do' } },
      'CONFIG_INVALID',
      /config\.json: "do" must be one of plan, act/,
    ],
    ['a variable', { environment: { ORION_MODE: 'do' } }, 'CONFIG_INVALID', /^ORION_MODE/],
    ['a boolean (R236)', { environment: { ORION_QUIET: '1' } }, 'CONFIG_INVALID', /^ORION_QUIET/],
    [
      'the form of the output',
      { environment: { ORION_JSON: '1' } },
      'CONFIG_INVALID',
      /^ORION_JSON/,
    ],
    [
      'a setting (R235)',
      { environment: { WRITE_SESSION_SAVE_LINES: '0' } },
      'CONFIG_INVALID',
      /^WRITE_SESSION_SAVE_LINES/,
    ],
    [
      'a switch',
      { environment: { TWO_STAGE_ENABLED: 'yes' } },
      'CONFIG_INVALID',
      /^TWO_STAGE_ENABLED/,
    ],
    ['a protocol', { flags: { protocol: 'loop' } }, 'PROTOCOL_UNSUPPORTED', /^--protocol/],
    ['a budget', { flags: { maxTurns: '0' } }, 'CONFIG_INVALID', /^--max-turns/],
    ['a budget of text', { flags: { maxSeconds: 'soon' } }, 'CONFIG_INVALID', /^--max-seconds/],
    [
      'a budget of the environment',
      { environment: { ORION_MAX_TOKENS: '-1' } },
      'CONFIG_INVALID',
      /^ORION_MAX_TOKENS/,
    ],
    [
      'a limit of the stop policy',
      { environment: { ORION_STOP_SECONDS: '1.5' } },
      'CONFIG_INVALID',
      /^ORION_STOP_SECONDS/,
    ],
    ['a provider', { flags: { provider: 'nobody' } }, 'PROVIDER_UNKNOWN', /^--provider/],
    [
      'ADAPTER_TYPE',
      { environment: { ADAPTER_TYPE: 'nobody' } },
      'PROVIDER_UNKNOWN',
      /^ADAPTER_TYPE/,
    ],
    ['a URL', { flags: { baseUrl: 'localhost:80' } }, 'CONFIG_INVALID', /^--base-url/],
    [
      'a script of another provider',
      { flags: { provider: 'openai', script: 's' } },
      'CONFIG_INVALID',
      /^--script/,
    ],
    [
      'a script that is not there',
      { flags: { script: '/nonexistent/s' } },
      'SCRIPT_INVALID',
      /ENOENT/,
    ],
  ])('%s', async (_name, sources, code, message) => {
    const error = await refusal(load(sources));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.hint).not.toBe('');
  });

  it('never repeats a password of a base URL', async () => {
    const error = await refusal(load({ flags: { baseUrl: 'http://me:geheim@host/v1' } }));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(`${error.message} ${error.hint}`).not.toContain('geheim');
  });
});

describe('the provider of a turn', () => {
  it.each<[string, Sources, string | null]>([
    ['no model', { environment: { OPENAI_API_KEY: 'k' } }, 'MODEL_MISSING'],
    ['no key', { flags: { model: 'm' } }, 'API_KEY_MISSING'],
    ['no key for an alias with a server', { flags: { provider: 'deepseek' } }, 'API_KEY_MISSING'],
    ['no key for a server of one’s own', { flags: { model: 'm', baseUrl: 'http://h/v1' } }, null],
    ['a key', { flags: { model: 'm' }, environment: { OPENAI_API_KEY: 'k' } }, null],
    ['no script', { flags: { provider: 'scripted' } }, 'SCRIPT_INVALID'],
  ])('%s', async (_name, sources, code) => {
    const configuration = await load(sources);
    if (code === null) requireProvider(configuration);
    else expect((await refusal(() => requireProvider(configuration))).code).toBe(code);
  });

  it('names at once all that a first start lacks, and the file that can hold the model', async () => {
    const configuration = await load({});
    const error = await refusal(() => requireProvider(configuration));
    expect(error.code).toBe('MODEL_MISSING');
    expect(error.message).toMatch(/^No model was named.* There is no API key either\.$/u);
    expect(error.hint).toMatch(
      /^Name a model\. .*"model" in \S+config\.json.* Set OPENAI_API_KEY/u,
    );
    const keyed = await load({ environment: { OPENAI_API_KEY: 'k' } });
    const { message, hint } = await refusal(() => requireProvider(keyed));
    expect(`${message} ${hint}`).not.toContain('key');
    expect(`${message} ${hint}`).not.toContain('KEY');
  });

  it('knows what an alias stands for, and lets it rank as the place where it was said', async () => {
    const key = { OPENAI_API_KEY: 'k' };
    const flag = await load({
      flags: { provider: 'deepseek' },
      environment: { ...key, ORION_MODEL: 'other', OPENAI_BASE_URL: 'http://other/v1' },
    });
    expect(flag.provider).toEqual({
      type: 'openai',
      model: 'deepseek-chat',
      baseUrl: 'https://api.deepseek.com/v1',
      apiKey: 'k',
    });
    const variable = await load({
      environment: { ...key, ADAPTER_TYPE: 'deepseek', ORION_MODEL: 'other' },
    });
    expect(variable.provider).toMatchObject({
      model: 'other',
      baseUrl: 'https://api.deepseek.com/v1',
    });
  });

  it('takes the script’s text, and --script alone means the scripted provider', async () => {
    const script = join(folder, 'script.json');
    await writeFile(script, '{"behaviours": []}');
    const { provider } = await load({ flags: { script }, environment: { ADAPTER_TYPE: 'openai' } });
    expect(provider).toEqual({ type: 'scripted', script: '{"behaviours": []}' });
  });

  it('leaves to the session of a recovery what neither flags nor environment name', async () => {
    const configuration = await load({
      user: { model: 'user', baseUrl: 'http://user/v1' },
      flags: { baseUrl: 'http://flag/v1' },
      environment: { OPENAI_API_KEY: 'k' },
    });
    expect(recoveryProvider(configuration)).toEqual({
      baseUrl: 'http://flag/v1',
      keys: { openai: 'k', 'openai-responses': 'k' },
    });
  });
});

describe('limits of a turn in a workspace file (R261)', () => {
  it('may be tighter than what holds without it, never wider', async () => {
    const { settings } = await load({
      project: { maxTurns: 5, stopSeconds: 60, maxPhaseCycles: 9, stopTokens: 100_000 },
      user: { maxSeconds: 30 },
    });
    expect(settings).toMatchObject({ maxTurns: 5, stopSeconds: 60, maxSeconds: 30 });
    expect(settings).not.toHaveProperty('maxPhaseCycles');
    expect(settings).not.toHaveProperty('stopTokens');
  });

  it('reaches every limit of every protocol (R169, R200)', async () => {
    const limits = {
      maxIdleToolPhases: 1,
      maxIterations: 1,
      maxToolsPerToolPhase: 1,
      controllerMaxTurns: 1,
      controllerMaxCallsPerStep: 1,
    };
    expect((await load({ project: limits })).settings).toMatchObject(limits);
    const wider = Object.fromEntries(Object.keys(limits).map((name) => [name, 1000]));
    for (const name of Object.keys(limits)) {
      expect((await load({ project: wider })).settings).not.toHaveProperty(name);
    }
  });

  it('does not widen a budget of the user', async () => {
    const { settings } = await load({ project: { maxTurns: 50 }, user: { maxTurns: 10 } });
    expect(settings.maxTurns).toBe(10);
  });
});
