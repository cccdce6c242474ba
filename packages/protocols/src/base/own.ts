import { OrionError } from '@orion/contracts';
import type { JsonObject, ProtocolConfig, TurnState } from '@orion/contracts';
import { counts } from './config.ts';

/**
 * The limits that a protocol has for itself: those of `defaults`, each as it is configured. A name that `defaults` does
 * not have is refused with CONFIG_INVALID: who misspells a limit has none (R135).
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

/** What a protocol remembers over all runs of a turn. `begin` makes it, when the turn has none of it yet. */
export function ownMemory<Memory extends JsonObject>(
  { memory }: Pick<TurnState, 'memory'>,
  protocol: string,
  begin: () => Memory,
): Memory {
  return (memory[protocol] ??= begin()) as Memory;
}
