import { createOrion } from '@orion/agent';
import type { Configuration, Orion, OrionOptions } from '@orion/agent';

/** The runtime as the configuration of a command has it, with what that command adds. */
export function openOrion(
  { workspace, userDirectory, settings }: Configuration,
  more: Partial<OrionOptions> = {},
): Promise<Orion> {
  return createOrion({
    workspace,
    ...(userDirectory === null ? {} : { userDirectory }),
    settings,
    ...more,
  });
}
