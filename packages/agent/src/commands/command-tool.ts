import { randomUUID } from 'node:crypto';

import type { Clock, Tool, Workspace } from '@orion/contracts';
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
};

/** `run_command` as this workspace and these settings have it. The sandbox is looked for at the first command. */
export function createCommandTool(options: CommandToolOptions): Tool {
  const { commands, settings, workspace, userDirectory, clock } = options;
  const { root, stateDirectory } = workspace;
  let sandbox: Promise<Sandbox> | null = null;
  return createRunCommandTool({
    root,
    environment: commands.environment,
    sandboxMode: settings.sandbox,
    findSandbox(signal) {
      sandbox ??= findSandbox(commands.environment['PATH'] ?? '', { root, clock, signal });
      return sandbox;
    },
    async sandboxScope() {
      // A folder that is not there could be made inside of the sandbox.
      await workspace.ensureStateDirectory();
      const { paths } = await workspace.listProtected();
      const own = userDirectory === undefined ? [] : [userDirectory];
      const secrets = commands.home === null ? [] : secretPlaces(commands.home);
      return {
        root,
        hidden: [stateDirectory, ...own, ...secrets],
        readOnly: paths.filter((path) => path !== stateDirectory),
        allowNetwork: settings.allowNetwork,
      };
    },
    timeoutMs: settings.commandSeconds * 1_000,
    clock,
    createId: randomUUID,
  });
}
