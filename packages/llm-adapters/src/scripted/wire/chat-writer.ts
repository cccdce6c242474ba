import type { ReplyFacts, WireWriter } from './wire-writer.ts';

/** Chat completions, with the fields of a well-known provider, so that events have a realistic size. */
export function createChatWriter(reply: ReplyFacts): WireWriter {
  let events = 0;
  const head = (id: string): string =>
    `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":1700000000,"model":${JSON.stringify(reply.model)},"system_fingerprint":"fp_0000000000",`;
  const fixed = head(reply.id);
  const prefix = (): string => {
    events += 1;
    return reply.changingIds ? head(`${reply.id}-${events}`) : fixed;
  };
  const open = '"choices":[{"index":0,"delta":';
  const close = ',"logprobs":null,"finish_reason":null}]}\n\n';
  const contentPrefix = `${fixed}${open}{"content":`;
  const contentClose = `}${close}`;
  const delta = (json: string): string => `${prefix()}${open}${json}${close}`;
  const finish = (reason: string): string =>
    `${prefix()}"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}]}\n\n`;
  const usage = (): string => {
    const tokens = {
      prompt_tokens: reply.promptTokens,
      completion_tokens: reply.completionTokens,
      total_tokens: reply.promptTokens + reply.completionTokens,
    };
    return `${prefix()}"choices":[],"usage":${JSON.stringify(tokens)}}\n\n`;
  };
  return {
    begin: () => '',
    text: reply.changingIds
      ? (piece) => `${prefix()}${open}{"content":${JSON.stringify(piece)}${contentClose}`
      : (piece) => contentPrefix + JSON.stringify(piece) + contentClose,
    reasoning: (piece, field) => delta(`{"${field}":${JSON.stringify(piece)}}`),
    beginCall: (index, { id, name }) => {
      const call = { index, id, type: 'function', function: { name, arguments: '' } };
      return delta(`{"tool_calls":[${JSON.stringify(call)}]}`);
    },
    callArguments: (index, piece) =>
      delta(
        `{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`,
      ),
    error: ({ message, type, code }, afterFinish) => {
      const error = { message, type, ...(code === undefined ? {} : { code }) };
      const event = `data: ${JSON.stringify({ error })}\n\n`;
      return afterFinish ? `${finish('length')}${event}data: [DONE]\n\n` : event;
    },
    end: (reason) =>
      [
        reply.endMark === 'done' ? '' : finish(reason),
        reply.wantsUsage ? usage() : '',
        reply.endMark === 'finish_reason' ? '' : 'data: [DONE]\n\n',
      ].join(''),
  };
}
