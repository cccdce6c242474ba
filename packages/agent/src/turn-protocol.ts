import type { ProtocolStrategy } from '@orion/contracts';
import { PROTOCOL_NAMES, createProtocol } from '@orion/protocols';

import { chooseProtocol } from './config/protocol-choice.ts';
import type { ProtocolChoice } from './config/protocol-choice.ts';
import type { OrionOptions, TurnRequest } from './orion.ts';

/** The protocol of a turn, and why it is that one. */
export type TurnProtocol = {
  readonly protocol: ProtocolStrategy;
  readonly protocolReason: string;
};

/** Chooses the protocol of each turn; a wrong one in the options is refused at once. */
export class TurnProtocols {
  readonly #own: TurnProtocol | null;
  readonly #configured: ProtocolChoice | undefined;
  readonly #overrideEnabled: boolean;
  #current: string;

  constructor(
    { protocol, protocolReason = 'option' }: Pick<OrionOptions, 'protocol' | 'protocolReason'>,
    overrideEnabled: boolean,
  ) {
    this.#own = typeof protocol === 'object' ? { protocol, protocolReason } : null;
    this.#configured =
      typeof protocol === 'string'
        ? chooseProtocol({ pinned: protocol, pinnedBy: protocolReason, overrideEnabled: false })
        : undefined;
    this.#overrideEnabled = overrideEnabled;
    this.#current = this.#own?.protocol.getName() ?? this.#configured?.name ?? 'standard';
  }

  choose({ protocol: pinned, metadata }: Pick<TurnRequest, 'protocol' | 'metadata'>): TurnProtocol {
    const overrideEnabled = this.#overrideEnabled;
    const configured = this.#configured;
    const { name, reason } = chooseProtocol({ pinned, metadata, overrideEnabled, configured });
    const chosen =
      this.#own !== null && reason === 'default'
        ? this.#own
        : { protocol: createProtocol(name), protocolReason: reason };
    this.#current = chosen.protocol.getName();
    return chosen;
  }

  /** Undefined for a name that nothing has: a session may have been begun by another program. */
  named(name: string): ProtocolStrategy | undefined {
    if (this.#own?.protocol.getName() === name) return this.#own.protocol;
    return PROTOCOL_NAMES.some((known) => known === name) ? createProtocol(name) : undefined;
  }

  /** The name of the one that was chosen last; before the first turn that of the options. */
  current(): string {
    return this.#current;
  }
}
