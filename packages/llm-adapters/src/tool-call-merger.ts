import type { LlmEvent } from '@orion/contracts';

import { classifyArguments } from './tool-arguments.ts';

/** What one delta says of a call; empty texts and missing fields say nothing. */
export type ToolCallDelta = {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
  /** The call takes any text instead of a JSON object. */
  readonly freeForm?: boolean | undefined;
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
};

/**
 * Merges the deltas of a message's tool calls.
 *
 * 1. By index, then id: a new id under a known index starts a new call, an index alone continues its latest one.
 * 2. Argument fragments start from the empty text and are joined, never repaired.
 * 3. A call is announced when its id and its name are known; fragments that came before follow at once.
 * 4. Calls end together with the message, in the order in which they began, since indexes may interleave.
 */
export class ToolCallMerger {
  readonly #emit: (event: LlmEvent) => void;
  readonly #calls: OpenCall[] = [];

  constructor(emit: (event: LlmEvent) => void) {
    this.#emit = emit;
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
      call = {
        ordinal: this.#calls.length,
        wireIndex: delta.index,
        id: '',
        name: '',
        fragments: [],
        freeForm: false,
        started: false,
      };
      this.#calls.push(call);
    }
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

  /** `cutOff`: the message was stopped by its length limit, so that a call without arguments lost them. */
  end(cutOff: boolean): void {
    for (const call of this.#calls) {
      if (call.id === '') call.id = `call_${call.ordinal}`;
      if (!call.started) this.#start(call);
      const text = call.fragments.join('');
      if (call.freeForm) {
        const state = cutOff ? 'cut' : 'complete';
        const { id, name } = call;
        this.#emit({
          type: 'tool-call-end',
          index: call.ordinal,
          call: { id, name, arguments: text, state, kind: 'custom' },
        });
        continue;
      }
      const none = text.trim() === '';
      this.#emit({
        type: 'tool-call-end',
        index: call.ordinal,
        call: {
          id: call.id,
          name: call.name,
          // A call without any argument is one with none, unless the message was cut before they came.
          arguments: none && !cutOff ? '{}' : text,
          state: none ? (cutOff ? 'cut' : 'complete') : classifyArguments(text),
        },
      });
    }
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
