import { OrionError } from '@orion/contracts';
import type { ProtocolName, ProtocolStrategy } from '@orion/contracts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

const SPELLINGS: ReadonlyMap<string, ProtocolName> = new Map([
  ['standard', 'standard'],
  ['two-stage', 'two-stage'],
  ['two_stage', 'two-stage'],
  ['controller', 'controller'],
]);

const AVAILABLE: ReadonlyMap<ProtocolName, () => ProtocolStrategy> = new Map<
  ProtocolName,
  () => ProtocolStrategy
>([
  ['standard', createStandardProtocol],
  ['two-stage', createTwoStageProtocol],
  ['controller', createControllerProtocol],
]);

/** The protocols that can be chosen, the default first. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = [...AVAILABLE.keys()];

/** The one spelling of a protocol's name (R264), or PROTOCOL_UNSUPPORTED for a name that nothing has. */
export function normaliseProtocolName(name: string): ProtocolName {
  const known = SPELLINGS.get(name);
  if (known === undefined) throw unsupported(name);
  return known;
}

/** A protocol by its name; throws PROTOCOL_UNSUPPORTED, before any model call, for what is not there. */
export function createProtocol(name: string): ProtocolStrategy {
  const create = AVAILABLE.get(normaliseProtocolName(name));
  if (create === undefined) throw unsupported(name);
  return create();
}

function unsupported(name: string): OrionError {
  const available = [...AVAILABLE.keys()].join(', ');
  return new OrionError({
    code: 'PROTOCOL_UNSUPPORTED',
    message: `There is no protocol ${JSON.stringify(name)}; available: ${available}`,
    hint: `Choose one of: ${available}.`,
  });
}
