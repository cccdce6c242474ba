import type { LlmEvent, ToolCall } from '@orion/contracts';

import { classifyArguments } from './tool-arguments.ts';

/** What one delta says of a call; empty texts and missing fields say nothing. */
export type ToolCallDelta = {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
  /** The call takes any text instead of a JSON object. */
  readonly freeForm?: boolean | undefined;
  /** The provider has said that nothing more of this call comes. */
  readonly ended?: boolean | undefined;
};

type OpenCall = {
  /** Its place among the calls of this message; the wire's own index may stand for several calls. */
  readonly ordinal: number;
  wireIndex: number | undefined;
  id: string;
  name: string;
  fragments: string[];
  freeForm: boolean;
  started: boolean;
  ended: boolean;
  /** Whether another part has begun since. */
  passed: boolean;
  closed: boolean;
};

/**
 * Merges the deltas of a message's tool calls.
 *
 * 1. By index, then id: a new id under a known index starts a new call, an index alone continues its latest one.
 * 2. Argument fragments start from the empty text and are joined, never repaired.
 * 3. A call is announced when its id and its name are known; fragments that came before follow at once.
 * 4. A call is closed when the next part of the message begins, if that leaves no doubt: its provider has said that
 *    it is over, or its arguments are a whole object, to which nothing can be added. Any other ends with the message,
 *    since fragments of some servers interleave. A provider that says that a call is over may mean that its length
 *    limit is reached, so that this alone closes nothing.
 * 5. Calls are closed in the order in which they began. More text of a closed call, unless it repeats all of it,
 *    is an error of the stream: the call may be running.
 */
export class ToolCallMerger {
  readonly #emit: (event: LlmEvent) => void;
  readonly #onTextAfterEnd: () => void;
  readonly #calls: OpenCall[] = [];
  /** So many of them are closed, from the first one on. */
  #closed = 0;

  constructor(emit: (event: LlmEvent) => void, onTextAfterEnd: () => void) {
    this.#emit = emit;
    this.#onTextAfterEnd = onTextAfterEnd;
  }

  get count(): number {
    return this.#calls.length;
  }

  push(delta: ToolCallDelta): void {
    const id = delta.id ?? '';
    const name = delta.name ?? '';
    const fragment = delta.arguments ?? '';
    let call = this.#find(delta.index, id);
    if (call === undefined || startsAnother(call, id, name, fragment)) {
      this.nextPart();
      call = {
        ordinal: this.#calls.length,
        wireIndex: delta.index,
        id: '',
        name: '',
        fragments: [],
        freeForm: false,
        started: false,
        ended: false,
        passed: false,
        closed: false,
      };
      this.#calls.push(call);
    }
    if (call.closed) {
      if (fragment.trim() !== '' && fragment !== call.fragments.join('')) this.#onTextAfterEnd();
      return;
    }
    if (delta.ended === true) call.ended = true;
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    if (delta.freeForm === true) call.freeForm = true;
    if (fragment !== '') call.fragments.push(fragment);

    if (call.started) {
      if (fragment !== '')
        this.#emit({ type: 'tool-call-delta', index: call.ordinal, argumentsDelta: fragment });
    } else if (call.id !== '' && call.name !== '') {
      this.#start(call);
    }
  }

  /** Another part of the message has begun: what came last is over where that is certain. */
  nextPart(): void {
    const last = this.#calls.at(-1);
    // Looked at once for each call: its arguments may be long.
    if (last === undefined || last.passed) return;
    last.passed = true;
    if (last.name === '' || this.#closed !== this.#calls.length - 1) return;
    const text = last.fragments.join('');
    const state = stateOf(text, last.freeForm, false);
    if (last.ended || (state === 'complete' && !last.freeForm && text.trim() !== ''))
      this.#close(last, text, state);
  }

  /** `cutOff`: the message was stopped by its length limit, so that a call without arguments lost them. */
  end(cutOff: boolean): void {
    for (const call of this.#calls.slice(this.#closed)) {
      const text = call.fragments.join('');
      this.#close(call, text, stateOf(text, call.freeForm, cutOff));
    }
  }

  #close(call: OpenCall, text: string, state: ToolCall['state']): void {
    if (call.id === '') call.id = `call_${call.ordinal}`;
    if (!call.started) this.#start(call);
    call.closed = true;
    this.#closed += 1;
    const { id, name, freeForm } = call;
    this.#emit({
      type: 'tool-call-end',
      index: call.ordinal,
      call: {
        id,
        name,
        // A call without any argument is one with none, unless the message was cut before they came.
        arguments: !freeForm && state === 'complete' && text.trim() === '' ? '{}' : text,
        state,
        ...(freeForm ? { kind: 'custom' as const } : {}),
      },
    });
  }

  #find(index: number | undefined, id: string): OpenCall | undefined {
    const known = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (known !== undefined && (index === undefined || known.wireIndex === index)) return known;
    if (index !== undefined) return this.#calls.findLast((call) => call.wireIndex === index);
    const latest = this.#calls.at(-1);
    return latest;
  }

  #start(call: OpenCall): void {
    call.started = true;
    this.#emit({ type: 'tool-call-start', index: call.ordinal, id: call.id, name: call.name });
    const text = call.fragments.join('');
    if (text !== '')
      this.#emit({ type: 'tool-call-delta', index: call.ordinal, argumentsDelta: text });
  }
}

function stateOf(text: string, freeForm: boolean, cutOff: boolean): ToolCall['state'] {
  if (freeForm || text.trim() === '') return cutOff ? 'cut' : 'complete';
  return classifyArguments(text);
}

/**
 * Whether a delta that would continue a call begins another one: it has another id, or, from servers that send no
 * ids, it names a tool although the call before is already whole.
 */
function startsAnother(call: OpenCall, id: string, name: string, fragment: string): boolean {
  if (id !== '' && call.id !== '') return id !== call.id;
  if (id !== '' || name === '' || call.name === '') return false;
  if (name !== call.name) return true;
  return fragment !== '' && classifyArguments(call.fragments.join('')) === 'complete';
}
