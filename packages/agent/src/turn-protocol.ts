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
  /** The one that a turn was begun with, whatever the options say now. Throws PROTOCOL_UNSUPPORTED if there is none. */
  again(begun: { readonly protocol: string; readonly protocolReason: string }): TurnProtocol;
  /** The name of the one that would be chosen. */
  nameFor(request: Pick<TurnRequest, 'protocol' | 'metadata'>): string;
  /** Undefined for a name that nothing has: a session may have been begun by another program. */
  named(name: string): ProtocolStrategy | undefined;
  /** The name of the one that was chosen last; before the first turn that of the options. */
  current(): string;
};

/** Said where a client asks for a protocol and is not asked. */
const METADATA_IGNORED = 'metadata.protocol counts only with PROTOCOL_OVERRIDE_ENABLED';

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
  const find: TurnProtocols['choose'] = ({ protocol: pinned, metadata }) => {
    const { name, reason } = chooseProtocol({ pinned, metadata, overrideEnabled, configured });
    const chosen =
      own !== null && reason === 'default'
        ? own
        : { protocol: createProtocol(name), protocolReason: reason };
    const isIgnored =
      !overrideEnabled && pinned === undefined && metadata?.['protocol'] !== undefined;
    return isIgnored
      ? { ...chosen, protocolReason: `${chosen.protocolReason}; ${METADATA_IGNORED}` }
      : chosen;
  };
  return {
    choose(request) {
      const chosen = find(request);
      current = chosen.protocol.getName();
      return chosen;
    },
    again({ protocol: name, protocolReason: reason }) {
      current = name;
      if (own?.protocol.getName() === name)
        return { protocol: own.protocol, protocolReason: reason };
      return { protocol: createProtocol(name), protocolReason: reason };
    },
    nameFor: (request) => find(request).protocol.getName(),
    named(name) {
      if (own?.protocol.getName() === name) return own.protocol;
      return PROTOCOL_NAMES.some((known) => known === name) ? createProtocol(name) : undefined;
    },
    current: () => current,
  };
}
