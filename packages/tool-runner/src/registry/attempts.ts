import { limitedSignal, sleep } from '@orion/contracts';
import type {
  Clock,
  JsonObject,
  Tool,
  ToolCall,
  ToolConversation,
  ToolExecutionContext,
  ToolOutput,
  ToolResult,
} from '@orion/contracts';
import { cancelled, isTransient, success, thrown, timedOut } from './results.ts';

const MAX_RETRIES = 3;
const FIRST_RETRY_DELAY = 100;
const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Runs an approved call with valid arguments, with retries if the tool allows them and within the time limit. Without
 * a clock there is no limit and no delay between attempts.
 */
export async function execute(
  call: ToolCall,
  tool: Tool,
  args: JsonObject,
  context: ToolExecutionContext,
  {
    clock,
    conversation,
    keep,
  }: {
    readonly clock: Clock | undefined;
    readonly conversation: ToolConversation | undefined;
    /** Stores what is too large for the model; not repeated. */
    readonly keep: (output: ToolOutput) => Promise<ToolOutput>;
  },
): Promise<ToolResult> {
  const limitMs = tool.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  for (let attempts = 1; ; attempts++) {
    const limited = limitedSignal(context.signal, clock, limitMs);
    let output: ToolOutput;
    try {
      // A new object for each attempt, because a tool may change its arguments.
      const running = tool.execute(structuredClone(args), {
        ...context,
        signal: limited.signal,
        toolCallId: call.id,
        ...(conversation === undefined ? {} : { conversation }),
      });
      output = tool.effect === 'read' ? await orAborted(running, limited.signal) : await running;
      limited.end();
    } catch (error) {
      limited.end();
      if (limited.signal.aborted && !context.signal.aborted) {
        return timedOut(call, limitMs, attempts);
      }
      if (error === ABORTED) return cancelled(call, attempts);
      const retry = tool.effect === 'read' && attempts <= MAX_RETRIES && isTransient(error);
      if (!retry || context.signal.aborted) return thrown(call, error, attempts);
      if (clock !== undefined)
        await sleep(clock, FIRST_RETRY_DELAY * 2 ** (attempts - 1), context.signal);
      if (context.signal.aborted) return cancelled(call, attempts);
      continue;
    }
    try {
      return success(call, await keep(output), attempts);
    } catch (error) {
      return thrown(call, error, attempts);
    }
  }
}

const ABORTED: unique symbol = Symbol('aborted');

/** Settles like the promise, or rejects with `ABORTED` when the signal is aborted. A later result is dropped. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      // oxlint-disable-next-line prefer-promise-reject-errors -- a mark for the caller, never seen outside
      reject(ABORTED);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
    if (signal.aborted) onAbort();
  });
}
