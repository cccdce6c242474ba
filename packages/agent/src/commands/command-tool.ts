import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { OrionError } from '@orion/contracts';
import type { Clock, Redact, Tool, Workspace } from '@orion/contracts';
import { createRunCommandTool, findSandbox, secretPlaces } from '@orion/tool-runner';
import type { Sandbox } from '@orion/tool-runner';

import type { Settings } from '../config/settings.ts';
import type { CommandOptions } from '../orion.ts';

type CommandToolOptions = {
  readonly commands: CommandOptions;
  readonly settings: Settings;
  readonly workspace: Workspace;
  readonly userDirectory: string | undefined;
  readonly clock: Clock;
  readonly redact: Redact;
};

/** `run_command` as this workspace and these settings have it. The sandbox is looked for at the first command. */
export function createCommandTool(options: CommandToolOptions): Tool {
  const { commands, settings, workspace, userDirectory, clock, redact } = options;
  const { root, stateDirectory } = workspace;
  let sandbox: Promise<Sandbox> | null = null;
  const find = async (signal: AbortSignal): Promise<Sandbox> => {
    sandbox ??= findSandbox(commands.environment['PATH'] ?? '', { root, clock, signal }).catch(
      (error: unknown) => {
        sandbox = null;
        throw error;
      },
    );
    try {
      return await sandbox;
    } catch (error) {
      // The trial of another turn ends with that turn.
      if (signal.aborted || !OrionError.isInstance(error) || error.code !== 'ABORTED') throw error;
      return find(signal);
    }
  };
  return createRunCommandTool({
    root,
    environment: commands.environment,
    sandboxMode: settings.sandbox,
    findSandbox: find,
    async guard() {
      // A folder that is not there could be made inside of the sandbox.
      await workspace.ensureStateDirectory();
      const before = await workspace.listProtected();
      const paths = before.entries.map(({ path }) => join(root, path));
      const own = userDirectory === undefined ? [] : [userDirectory];
      const secrets = commands.home === null ? [] : secretPlaces(commands.home);
      return {
        scope: {
          root,
          hidden: [stateDirectory, ...own, ...secrets],
          readOnly: paths.filter((path) => path !== stateDirectory),
          allowNetwork: settings.allowNetwork,
        },
        settle: (how) => workspace.protectedChanges(before, how),
      };
    },
    timeoutMs: settings.commandSeconds * 1_000,
    redact,
    clock,
    createId: randomUUID,
  });
}
