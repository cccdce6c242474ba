import type { RunEvent } from './run-event.ts';

/**
 * What the model has said in a turn, of events in their order: text that a rewind makes void is left out, and neither
 * notices nor the content of files are part of it.
 */
export class TurnText {
  #parts: { readonly seq: number; readonly content: string }[] = [];
  /** Text up to this event stays: a call or a write session followed it. */
  #fixedSeq = 0;

  add(event: RunEvent): void {
    switch (event.type) {
      case 'chunk':
        if (event.source === 'model') this.#parts.push({ seq: event.seq, content: event.content });
        return;
      case 'tool_calls':
      case 'write_session':
        this.#fixedSeq = event.seq;
        return;
      case 'rewind': {
        const last = Math.max(event.toSeq, this.#fixedSeq);
        while ((this.#parts.at(-1)?.seq ?? 0) > last) this.#parts.pop();
        return;
      }
      default:
    }
  }

  toString(): string {
    return this.#parts.map(({ content }) => content).join('');
  }
}
