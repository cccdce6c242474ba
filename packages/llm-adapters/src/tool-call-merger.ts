import { JsonReader } from '@orion/contracts';
import type { JsonValue, LlmEvent, ToolCall } from '@orion/contracts';

import type { ProviderDataMaker } from './provider-data.ts';

/** For all calls of a message, whose arguments are held in memory. No tool accepts more. */
const MOST_ARGUMENT_CHARACTERS = 16 * 1024 * 1024;
const MOST_CALLS = 1024;

/** One delta of a call. Empty texts and missing fields have no meaning. */
export type ToolCallDelta = {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
  /** The arguments are any text instead of a JSON object. */
  readonly freeForm?: boolean | undefined;
  /** The provider has said that the call is over. */
  readonly ended?: boolean | undefined;
  /** Returned to the provider with the call; the first value counts. */
  readonly providerValue?: JsonValue | undefined;
};

class OpenCall {
  /** Its position among the calls of the message; several calls may share an index of the wire. */
  readonly ordinal: number;
  readonly wireIndex: number | undefined;
  id = '';
  name = '';
  freeForm = false;
  providerValue: JsonValue | undefined;
  started = false;
  ended = false;
  /** Whether another part has begun since. */
  passed = false;
  closed = false;
  #fragments: string[] = [];
  /** Reads the fragments as they arrive; they are not read again. */
  readonly #json = new JsonReader('object');

  constructor(ordinal: number, wireIndex: number | undefined) {
    this.ordinal = ordinal;
    this.wireIndex = wireIndex;
  }

  add(fragment: string): void {
    this.#fragments.push(fragment);
    this.#json.push(fragment);
  }

  /** The arguments so far, joined once. */
  get text(): string {
    if (this.#fragments.length > 1) this.#fragments = [this.#fragments.join('')];
    return this.#fragments[0] ?? '';
  }

  state(cutOff: boolean): ToolCall['state'] {
    if (this.freeForm || this.text.trim() === '') return cutOff ? 'cut' : 'complete';
    return this.#json.state;
  }

  /**
   * Whether a delta that would continue this call begins another one: it has another id or, from servers that send no
   * ids, names a tool although this call is already complete. Some servers give each delta an id of its own: where there
   * is an index, another id without a name begins a call only if this one is complete.
   */
  isFollowedBy(id: string, name: string, fragment: string): boolean {
    const isMore = fragment.trim() !== '' && this.#json.state === 'complete';
    if (id !== '' && this.id !== '')
      return id !== this.id && (this.wireIndex === undefined || name !== '' || isMore);
    if (id !== '' || name === '' || this.name === '') return false;
    return name !== this.name || isMore;
  }
}

/**
 * Merges the deltas of a message's tool calls.
 *
 * 1. By index, then id: a new id under a known index starts a new call, if a name comes with it or the latest call with
 *    that index is whole; anything else continues that call.
 * 2. Argument fragments are joined from the empty text on, never repaired.
 * 3. A call is announced when its id and its name are known; earlier fragments follow at once.
 * 4. A call is closed when the next part of the message begins, unless there is doubt: either its provider has said
 *    that it is over, or its arguments are a whole object, to which nothing can be added. Any other call is closed with
 *    the message, because fragments of some servers interleave. A provider may also say that a call is over when its
 *    length limit is reached, so that this alone closes nothing.
 * 5. A delta costs what it brings, however much came before, and the size of a message is limited.
 * 6. Calls are closed in the order in which they began. More text for a closed call, unless it repeats all of it, is an
 *    error of the stream: the call may already be running.
 */
export class ToolCallMerger {
  readonly #emit: (event: LlmEvent) => void;
  readonly #onInvalid: (what: string) => void;
  readonly #data: ProviderDataMaker;
  readonly #calls: OpenCall[] = [];
  /** The latest call with each index of the wire, and with each id. */
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  #characters = 0;
  /** How many are closed, from the first one on. */
  #closed = 0;

  constructor(
    emit: (event: LlmEvent) => void,
    onInvalid: (what: string) => void,
    data: ProviderDataMaker,
  ) {
    this.#emit = emit;
    this.#data = data;
    this.#onInvalid = onInvalid;
  }

  get count(): number {
    return this.#calls.length;
  }

  push(delta: ToolCallDelta): void {
    const id = delta.id ?? '';
    const name = delta.name ?? '';
    const fragment = delta.arguments ?? '';
    let call = this.#find(delta.index, id);
    if (call === undefined || call.isFollowedBy(id, name, fragment)) {
      if (this.#calls.length === MOST_CALLS) {
        this.#onInvalid(`a message has more than ${MOST_CALLS} tool calls`);
        return;
      }
      this.nextPart();
      call = new OpenCall(this.#calls.length, delta.index);
      this.#calls.push(call);
      if (delta.index !== undefined) this.#byIndex.set(delta.index, call);
    }
    if (call.closed) {
      if (fragment.trim() !== '' && fragment !== call.text)
        this.#onInvalid('a tool call continues after the next part has begun');
      return;
    }
    this.#characters += fragment.length;
    if (this.#characters > MOST_ARGUMENT_CHARACTERS) {
      this.#onInvalid(
        `the arguments of tool calls are longer than ${MOST_ARGUMENT_CHARACTERS} characters`,
      );
      return;
    }
    if (delta.ended === true) call.ended = true;
    // Each delta may bring an id: of a call's later ones only so many are remembered.
    if (id !== '' && (call.id === '' || this.#byId.size < MOST_CALLS)) this.#byId.set(id, call);
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    if (delta.freeForm === true) call.freeForm = true;
    call.providerValue ??= delta.providerValue;
    if (fragment !== '') call.add(fragment);
    if (call.started) this.#emitDelta(call, fragment);
    else if (call.id !== '' && call.name !== '') this.#start(call);
  }

  /** Another part of the message has begun: closes the last call if it is certainly complete. */
  nextPart(): void {
    const last = this.#calls.at(-1);
    // Checked once per call, because its arguments may be long.
    if (last === undefined || last.passed) return;
    last.passed = true;
    if (last.name === '' || this.#closed !== this.#calls.length - 1) return;
    const isWhole = !last.freeForm && last.text.trim() !== '' && last.state(false) === 'complete';
    if (last.ended || isWhole) this.#close(last, false, false);
  }

  /**
   * `cutOff`: the length limit stopped the message, so that a call without arguments lost them. `completed`: its server
   * hid this, and may have made the arguments of an open call an object.
   */
  end(cutOff: boolean, completed: boolean): void {
    for (const call of this.#calls.slice(this.#closed)) this.#close(call, cutOff, completed);
  }

  #close(call: OpenCall, cutOff: boolean, completed: boolean): void {
    if (call.id === '') call.id = `call_${call.ordinal}`;
    if (!call.started) this.#start(call);
    call.closed = true;
    this.#closed += 1;
    const { id, name, freeForm, text } = call;
    const found = call.state(cutOff);
    const state = completed && found === 'complete' ? 'cut' : found;
    this.#emit({
      type: 'tool-call-end',
      index: call.ordinal,
      call: {
        id,
        name,
        // No arguments mean an empty object, unless the message was cut before they arrived.
        arguments: !freeForm && state === 'complete' && text.trim() === '' ? '{}' : text,
        state,
        ...(freeForm ? { kind: 'custom' as const } : {}),
        ...this.#data.make(call.providerValue),
      },
    });
  }

  #find(index: number | undefined, id: string): OpenCall | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined && (index === undefined || known.wireIndex === index)) return known;
    return index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
  }

  #start(call: OpenCall): void {
    call.started = true;
    this.#emit({ type: 'tool-call-start', index: call.ordinal, id: call.id, name: call.name });
    this.#emitDelta(call, call.text);
  }

  #emitDelta(call: OpenCall, argumentsDelta: string): void {
    if (argumentsDelta !== '')
      this.#emit({ type: 'tool-call-delta', index: call.ordinal, argumentsDelta });
  }
}
