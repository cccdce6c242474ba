import { replyTo } from './answers.ts';
import type { Exchange, Manners } from './model.ts';
import { markerOf } from './prompts.ts';

type Node<Result> = {
  /** What is asked after the replies that lead here; null at an end. */
  prompt: string | null;
  readonly replies: Map<string, Node<Result>>;
  result: Result | null;
};

/**
 * What became of the runs of one first message of one document. Runs in which the same is said are the same run: a
 * manner whose replies are known, prompt by prompt, need not be tried.
 */
export class Transcripts<Result> {
  #root: Node<Result> | null = null;

  add(exchanges: readonly Exchange[], result: Result): void {
    let node = (this.#root ??= emptyNode<Result>());
    for (const { prompt, reply } of exchanges) {
      node.prompt = prompt;
      let next = node.replies.get(reply);
      if (next === undefined) node.replies.set(reply, (next = emptyNode<Result>()));
      node = next;
    }
    node.result = result;
  }

  find(
    manners: Manners,
  ): { readonly result: Result; readonly exchanges: readonly Exchange[] } | null {
    let node = this.#root;
    const exchanges: Exchange[] = [];
    let sent = null;
    while (node !== null && node.prompt !== null) {
      const { prompt } = node;
      let reply: string;
      if (sent === null) {
        sent = manners.first.write(manners.document, markerOf(prompt));
        reply = sent.text;
      } else {
        reply = replyTo(prompt, { ...manners, sent }).text;
      }
      exchanges.push({ prompt, reply });
      node = node.replies.get(reply) ?? null;
    }
    const result = node?.result ?? null;
    return result === null ? null : { result, exchanges };
  }
}

function emptyNode<Result>(): Node<Result> {
  return { prompt: null, replies: new Map(), result: null };
}
