import { defined } from '@orion/contracts';
import type { ProtocolContext, ProtocolEvent, ProtocolStrategy } from '@orion/contracts';
import { resolveProtocolConfig } from './config.ts';
import { validateContext } from './context.ts';
import { stoppable } from './stoppable.ts';

/** Defaults given to a protocol's constructor, for contexts that leave these fields out. */
export type ProtocolDefaults = Partial<
  Pick<ProtocolContext, 'adapter' | 'toolRegistry' | 'traceService'>
>;

/** A context that may leave out what the protocol has defaults for. */
export type ProtocolInput = Omit<ProtocolContext, keyof ProtocolDefaults> & ProtocolDefaults;

/**
 * The base of every protocol: it checks the context and its limits, and returns a stream that the consumer can leave
 * at any moment. Subclasses implement `getName`, `canHandle` and `run`. Fields of the context override the protocol's
 * defaults (R134).
 */
export class BaseProtocol implements ProtocolStrategy {
  readonly #defaults: ProtocolDefaults;

  constructor(defaults: ProtocolDefaults = {}) {
    this.#defaults = defaults;
  }

  getName(): string {
    throw new Error('getName must be implemented by the protocol');
  }

  canHandle(_context: ProtocolContext): boolean {
    throw new Error('canHandle must be implemented by the protocol');
  }

  /**
   * Throws immediately, not at the first event, if the context is malformed. Limits are resolved here, whoever set
   * them: a limit that is undefined or invalid would never be reached (R135, R159).
   */
  executeStreaming(input: ProtocolInput): AsyncIterable<ProtocolEvent> {
    const given = { ...this.#defaults, ...defined(input) } as ProtocolContext;
    validateContext(given);
    const context = { ...given, config: resolveProtocolConfig(given.config) };
    return stoppable(context.signal, (signal) => this.run(context, signal));
  }

  /** One run. `signal` follows the context's signal and is also aborted when the consumer leaves. */
  protected run(
    _context: ProtocolContext,
    _signal: AbortSignal,
  ): AsyncIterator<ProtocolEvent, unknown, undefined> {
    throw new Error('run must be implemented by the protocol');
  }
}

/** The parts of a built-in protocol. */
export type ProtocolParts = Partial<Pick<ProtocolStrategy, 'canHandle' | 'contentMessages'>> & {
  readonly name: string;
  readonly run: (
    context: ProtocolContext,
    signal: AbortSignal,
  ) => AsyncIterator<ProtocolEvent, unknown, undefined>;
};

export class BuiltInProtocol extends BaseProtocol {
  readonly contentMessages?: NonNullable<ProtocolStrategy['contentMessages']>;
  readonly #parts: ProtocolParts;

  constructor(parts: ProtocolParts, defaults?: ProtocolDefaults) {
    super(defaults);
    this.#parts = parts;
    if (parts.contentMessages !== undefined) this.contentMessages = parts.contentMessages;
  }

  override getName(): string {
    return this.#parts.name;
  }

  override canHandle(context: ProtocolContext): boolean {
    return this.#parts.canHandle?.(context) ?? true;
  }

  protected override run(
    context: ProtocolContext,
    signal: AbortSignal,
  ): AsyncIterator<ProtocolEvent, unknown, undefined> {
    return this.#parts.run(context, signal);
  }
}
