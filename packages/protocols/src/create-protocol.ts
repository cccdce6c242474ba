import { OrionError } from '@orion/contracts';
import type { ProtocolName, ProtocolStrategy } from '@orion/contracts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

const AVAILABLE: Readonly<Record<ProtocolName, () => ProtocolStrategy>> = {
  standard: createStandardProtocol,
  'two-stage': createTwoStageProtocol,
  controller: createControllerProtocol,
};

/** The protocols that users can select, the default first. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = Object.keys(AVAILABLE) as ProtocolName[];

/** The canonical spelling of a protocol's name (R264). Throws PROTOCOL_UNSUPPORTED for an unknown name. */
export function normaliseProtocolName(name: string): ProtocolName {
  const spelled = name === 'two_stage' ? 'two-stage' : name;
  const known = PROTOCOL_NAMES.find((each) => each === spelled);
  if (known !== undefined) return known;
  const available = PROTOCOL_NAMES.join(', ');
  throw new OrionError({
    code: 'PROTOCOL_UNSUPPORTED',
    message: `There is no protocol ${JSON.stringify(name)}; available: ${available}`,
    hint: `Choose one of: ${available}.`,
  });
}

/** Creates a protocol by name. Throws PROTOCOL_UNSUPPORTED for an unknown name. */
export function createProtocol(name: string): ProtocolStrategy {
  return AVAILABLE[normaliseProtocolName(name)]();
}
