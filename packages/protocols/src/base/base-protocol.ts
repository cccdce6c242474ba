import type { ProtocolContext, ProtocolEvent, ProtocolStrategy } from '@orion/contracts';
import { validateContext } from './context.ts';
import { stoppable } from './stoppable.ts';

/**
 * What every protocol shares: the check of the context, and a stream that its consumer can leave at any moment.
 * A protocol extends it with `getName`, `canHandle` and `run`.
 */
export class BaseProtocol implements ProtocolStrategy {
  getName(): string {
    throw new Error('getName must be implemented by the protocol');
  }

  canHandle(_context: ProtocolContext): boolean {
    throw new Error('canHandle must be implemented by the protocol');
  }

  /** Throws at once, not at the first event, when the context is malformed. */
  executeStreaming(context: ProtocolContext): AsyncIterable<ProtocolEvent> {
    validateContext(context);
    context.turnState.startedAt ??= context.clock.monotonic();
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
