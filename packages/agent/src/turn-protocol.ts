import type { ProtocolStrategy } from '@orion/contracts';
import { PROTOCOL_NAMES, createProtocol } from '@orion/protocols';

import { chooseProtocol } from './config/protocol-choice.ts';
import type { OrionOptions, TurnRequest } from './orion.ts';

/** The protocol of a turn, and why it is that one. */
export type TurnProtocol = {
  readonly protocol: ProtocolStrategy;
  readonly protocolReason: string;
};

export type TurnProtocols = {
  choose(request: Pick<TurnRequest, 'protocol' | 'metadata'>): TurnProtocol;
  /** Undefined for a name that nothing has: a session may have been begun by another program. */
  named(name: string): ProtocolStrategy | undefined;
  /** The name of the one that was chosen last; before the first turn that of the options. */
  current(): string;
};

/** Chooses the protocol of each turn; a wrong one in the options is refused at once. */
export function turnProtocols(
  { protocol, protocolReason = 'option' }: Pick<OrionOptions, 'protocol' | 'protocolReason'>,
  overrideEnabled: boolean,
): TurnProtocols {
  const own = typeof protocol === 'object' ? { protocol, protocolReason } : null;
  const configured =
    typeof protocol === 'string'
      ? chooseProtocol({ pinned: protocol, pinnedBy: protocolReason, overrideEnabled: false })
      : undefined;
  let current: string = own?.protocol.getName() ?? configured?.name ?? 'standard';
  return {
    choose({ protocol: pinned, metadata }) {
      const { name, reason } = chooseProtocol({ pinned, metadata, overrideEnabled, configured });
      const chosen =
        own !== null && reason === 'default'
          ? own
          : { protocol: createProtocol(name), protocolReason: reason };
      current = chosen.protocol.getName();
      return chosen;
    },
    named(name) {
      if (own?.protocol.getName() === name) return own.protocol;
      return PROTOCOL_NAMES.some((known) => known === name) ? createProtocol(name) : undefined;
    },
    current: () => current,
  };
}
