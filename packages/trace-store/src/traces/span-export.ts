import type { JsonValue, TraceEvent } from '@orion/contracts';
import { objectOf, textOf } from '../safety/json-values.ts';

export type SpanAttributes = Readonly<Record<string, string | number | readonly string[]>>;

/** A span that has begun. What its `end` throws is ignored. */
export interface OpenSpan {
  /** `at` is in milliseconds since the epoch; `error` is the kind of failure, or null. */
  end(at: number, attributes: SpanAttributes, error: string | null): void;
}

/** Where spans go: the only thing that an exporter has to implement. */
export interface SpanSink {
  start(span: {
    readonly name: string;
    /** `client` for a call that leaves this process. */
    readonly kind: 'internal' | 'client';
    readonly at: number;
    readonly parent: OpenSpan | null;
    readonly attributes: SpanAttributes;
  }): OpenSpan;
}

/** Turns that never end (their process was killed) must not accumulate. */
const MAX_TURNS = 1_000;

/**
 * Turns as spans, named by the gen_ai conventions of OpenTelemetry: a turn is `invoke_agent`, a model call `chat`, a
 * tool `execute_tool`. The result is an observer of redacted events; nothing is exported unless the caller installs it.
 *
 * 1. No prompt, answer or argument becomes an attribute.
 * 2. Every span that begins ends, at the latest with its turn.
 * 3. A sink that throws affects nothing else.
 */
export function createSpanExport(sink: SpanSink): (event: TraceEvent) => void {
  const turns = new Map<string, TurnSpans>();

  const endTurn = (requestId: string, at: number, error: string | null): void => {
    const turn = turns.get(requestId);
    turns.delete(requestId);
    turn?.endAll(at, error);
  };

  const observe = (event: TraceEvent): void => {
    const { requestId, timestamp: at } = event;
    if (requestId === null) return;
    if (event.type === 'turn_started') {
      endTurn(requestId, at, 'unfinished');
      const [oldest] = turns.keys();
      if (turns.size >= MAX_TURNS && oldest !== undefined) endTurn(oldest, at, 'unfinished');
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'orion',
        'orion.request.id': requestId,
      };
      const span = { name: 'invoke_agent orion', kind: 'internal', at, parent: null } as const;
      turns.set(requestId, new TurnSpans(sink, sink.start({ ...span, attributes })));
      return;
    }
    const turn = turns.get(requestId);
    if (turn === undefined) return;
    const details = objectOf(event.details);
    const model = `model ${event.cycleIndex ?? 0}/${event.phaseIndex ?? 0}`;
    const tool = `tool ${textOf(details['callId']) ?? ''}`;
    switch (event.type) {
      case 'turn_ended': {
        const status = textOf(details['status']) ?? 'unknown';
        endTurn(requestId, at, status === 'failed' || status === 'error' ? status : null);
        return;
      }
      case 'llm_call': {
        const name = textOf(details['model']) ?? 'unknown';
        turn.begin(model, `chat ${name}`, 'client', at, {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': textOf(details['provider']) ?? 'unknown',
          'gen_ai.request.model': name,
        });
        return;
      }
      case 'llm_result': {
        const usage = objectOf(details['usage']);
        const finish = textOf(details['finish']) ?? 'unknown';
        const failed = finish === 'error' || finish === 'aborted';
        turn.end(
          model,
          at,
          {
            'gen_ai.response.finish_reasons': [finish],
            ...counted('gen_ai.usage.input_tokens', usage['inputTokens']),
            ...counted('gen_ai.usage.output_tokens', usage['outputTokens']),
          },
          failed ? finish : null,
        );
        return;
      }
      case 'tool_call':
        if (details['treatment'] !== 'run') return;
        turn.begin(tool, `execute_tool ${event.toolName ?? 'unknown'}`, 'internal', at, {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': event.toolName ?? 'unknown',
          'gen_ai.tool.call.id': textOf(details['callId']) ?? '',
        });
        return;
      case 'tool_result': {
        const code = textOf(objectOf(event.error)['code']) ?? 'failed';
        turn.end(tool, at, {}, details['success'] === false ? code : null);
        return;
      }
    }
  };

  return (event) => {
    try {
      observe(event);
    } catch {
      // Telemetry must never make a turn fail.
    }
  };
}

/** The span of a turn, and its open children. */
class TurnSpans {
  readonly #sink: SpanSink;
  readonly #root: OpenSpan;
  readonly #open = new Map<string, OpenSpan>();

  constructor(sink: SpanSink, root: OpenSpan) {
    this.#sink = sink;
    this.#root = root;
  }

  begin(
    key: string,
    name: string,
    kind: 'internal' | 'client',
    at: number,
    attributes: SpanAttributes,
  ): void {
    this.#open.get(key)?.end(at, {}, 'unfinished');
    this.#open.set(key, this.#sink.start({ name, kind, at, parent: this.#root, attributes }));
  }

  end(key: string, at: number, attributes: SpanAttributes, error: string | null): void {
    const span = this.#open.get(key);
    this.#open.delete(key);
    span?.end(at, attributes, error);
  }

  endAll(at: number, error: string | null): void {
    for (const span of this.#open.values()) span.end(at, {}, 'unfinished');
    this.#root.end(at, {}, error);
  }
}

function counted(name: string, value: JsonValue | undefined): SpanAttributes {
  return typeof value === 'number' ? { [name]: value } : {};
}
