import { OrionError } from '@orion/contracts';
import type { ProtocolName } from '@orion/contracts';
import { normaliseProtocolName, PROTOCOL_NAMES } from '@orion/protocols';

/** A protocol and why it was chosen; the reason is in `done` and in the trace. */
export type ProtocolChoice = { readonly name: ProtocolName; readonly reason: string };

export type ProtocolQuestion = {
  /** What the request itself pins: a route of its own, or a command line. */
  readonly pinned?: string | undefined;
  readonly pinnedBy?: string | undefined;
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  /** PROTOCOL_OVERRIDE_ENABLED; without it the metadata decides nothing. */
  readonly overrideEnabled: boolean;
  /** What holds for every request: the environment or a configuration. */
  readonly configured?: ProtocolChoice | undefined;
};

/**
 * Which protocol a turn runs: what the request pins, then its metadata if that may, then the configuration, then
 * standard (R179). Throws PROTOCOL_UNSUPPORTED for a name that no protocol has.
 */
export function chooseProtocol(question: ProtocolQuestion): ProtocolChoice {
  const { pinned, pinnedBy = 'request', metadata, overrideEnabled, configured } = question;
  const named = overrideEnabled ? metadata?.['protocol'] : undefined;
  // Judged also where the request pins another one: a name that nothing has is a mistake of its client.
  const name = named === undefined ? null : protocolNamed(named, 'metadata.protocol');
  if (pinned !== undefined) return { name: protocolNamed(pinned, pinnedBy), reason: pinnedBy };
  if (name !== null) return { name, reason: 'metadata.protocol' };
  return configured ?? { name: 'standard', reason: 'default' };
}

/** Both spellings of two-stage, in any case (R264). */
export function protocolNamed(value: unknown, source: string): ProtocolName {
  const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
  try {
    return normaliseProtocolName(name);
  } catch {
    throw new OrionError({
      code: 'PROTOCOL_UNSUPPORTED',
      message: `${source}: there is no protocol ${JSON.stringify(value)}.`,
      hint: `Choose one of: ${PROTOCOL_NAMES.join(', ')}.`,
    });
  }
}
