import { OrionError } from '@orion/contracts';
import type { JsonObject, ProtocolConfig, TurnState } from '@orion/contracts';
import { counts } from './config.ts';

/**
 * A protocol's own limits: `defaults`, overridden by what is configured under the protocol's name. Rejects names that
 * are not in `defaults` with CONFIG_INVALID, because a misspelled limit would not limit anything (R135).
 */
export function ownLimits<Limits extends Readonly<Record<string, number>>>(
  { limits }: Pick<ProtocolConfig, 'limits'>,
  protocol: string,
  defaults: Limits,
): Limits {
  const given = limits[protocol] ?? {};
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(defaults, name)) continue;
    const known = Object.keys(defaults).join(', ');
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: `${protocol} has no limit ${JSON.stringify(name)}; it has: ${known}`,
    });
  }
  return counts(defaults, given as { readonly [Name in keyof Limits]?: number });
}

/** A protocol's own memory, shared by all runs of a turn. `begin` creates it on first use. */
export function ownMemory<Memory extends JsonObject>(
  { memory }: Pick<TurnState, 'memory'>,
  protocol: string,
  begin: () => Memory,
): Memory {
  return (memory[protocol] ??= begin()) as Memory;
}
