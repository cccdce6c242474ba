import { defined } from '@orion/contracts';
import type { ProtocolContext, ProtocolEvent, ProtocolStrategy } from '@orion/contracts';
import { resolveProtocolConfig } from './config.ts';
import { validateContext } from './context.ts';
import { stoppable } from './stoppable.ts';

/** What a protocol may be made with, for contexts that leave it out. */
export type ProtocolDefaults = Partial<
  Pick<ProtocolContext, 'adapter' | 'toolRegistry' | 'traceService'>
>;

/** A context, with or without what the protocol was made with. */
export type ProtocolInput = Omit<ProtocolContext, keyof ProtocolDefaults> & ProtocolDefaults;

/**
 * What every protocol shares: the check of the context and its limits, and a stream that its consumer can leave at any moment.
 * A protocol extends it with `getName`, `canHandle` and `run`. What the context names wins over what the protocol
 * was made with (R134).
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
   * Throws at once, not at the first event, when the context is malformed. Its limits are resolved here, by whoever
   * they were set: one that is undefined or broken compares as never reached (R135, R159).
   */
  executeStreaming(input: ProtocolInput): AsyncIterable<ProtocolEvent> {
    const given = { ...this.#defaults, ...defined(input) } as ProtocolContext;
    validateContext(given);
    const context = { ...given, config: resolveProtocolConfig(given.config) };
    return stoppable(context.signal, (signal) => this.run(context, signal));
  }

  /** One run. `signal` is the context's one, or aborted earlier because the consumer has left. */
  protected run(
    _context: ProtocolContext,
    _signal: AbortSignal,
  ): AsyncIterator<ProtocolEvent, unknown, undefined> {
    throw new Error('run must be implemented by the protocol');
  }
}

/** What one of this package's own protocols is made of. */
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
