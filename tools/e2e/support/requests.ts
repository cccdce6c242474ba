import type { RecordedRequest } from '@orion/llm-adapters/scripted';

/** A message of a request, as it went over the wire. */
export type SentMessage = {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
};

export type SentRequest = {
  readonly messages: readonly SentMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: string;
  /** Of the whole body, as JSON. */
  readonly bytes: number;
};

export function sent(requests: readonly RecordedRequest[]): readonly SentRequest[] {
  return requests.map((request) => {
    const body = request.body as Omit<SentRequest, 'bytes'>;
    return { ...body, bytes: Buffer.byteLength(JSON.stringify(body)) };
  });
}

/** The prompts of write sessions that were sent: the last message of each request that ends with one by the user. */
export function prompts(requests: readonly RecordedRequest[]): readonly string[] {
  return sent(requests)
    .filter((request) => request.tool_choice === 'none')
    .map((request) => request.messages.at(-1))
    .filter((message) => message?.role === 'user')
    .map((message) => message?.content ?? '');
}

/** What the model is told last of a call, in the last request. */
export function lastToolMessage(requests: readonly RecordedRequest[]): string {
  const messages = sent(requests).at(-1)?.messages ?? [];
  return messages.findLast(({ role }) => role === 'tool')?.content ?? '';
}
