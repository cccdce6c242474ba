import { recoveryProvider, requireProvider } from '@orion/agent';
import type { Configuration, OrionOptions } from '@orion/agent';

/** What is configured for a new turn; for a recovery what its session was begun with, where nothing else was named. */
export async function turnProvider(
  configuration: Configuration,
): Promise<NonNullable<OrionOptions['provider']>> {
  return (session) =>
    session === null ? requireProvider(configuration) : recoveryProvider(configuration);
}
