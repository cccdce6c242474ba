import { requireProvider, type Configuration } from '@orion/agent';
import { OrionError } from '@orion/contracts';

/** What `requireProvider` throws, with the command that checks everything else. */
export function requireProviderAtStart(configuration: Configuration): void {
  try {
    requireProvider(configuration);
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    const { code, message, hint } = error;
    const doctor = '`orion doctor` checks all that a turn needs.';
    throw new OrionError({ code, message, hint: `${hint} ${doctor}` });
  }
}
