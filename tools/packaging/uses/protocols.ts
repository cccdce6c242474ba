// prints: standard two-stage controller
import { createProtocol, PROTOCOL_NAMES } from '@orion/protocols';
import type { ProtocolStrategy } from '@orion/contracts';

const protocols: readonly ProtocolStrategy[] = PROTOCOL_NAMES.map((name) => createProtocol(name));
console.log(protocols.map((protocol) => protocol.getName()).join(' '));
