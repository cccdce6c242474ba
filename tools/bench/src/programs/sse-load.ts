// Many readers in a process of their own. Reads its task as JSON, and prints what it saw as JSON.
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';

import type { LoadResult, LoadTask } from '../server-load.ts';

const now = (): number => performance.timeOrigin + performance.now();
const task = JSON.parse(process.argv[2] ?? '') as LoadTask;
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

function open(url: string, body?: object, accept = 'text/event-stream'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const asked = request(url, {
      agent,
      method: sent === undefined ? 'GET' : 'POST',
      headers: {
        accept,
        authorization: `Bearer ${task.token}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
    });
    asked.on('response', resolve).on('error', reject).end(sent);
  });
}

const delays: number[] = [];
let events = 0;
let missing = 0;
let unordered = 0;
let bytes = 0;

async function read(response: IncomingMessage): Promise<void> {
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  let rest = '';
  let tokens = 0;
  let lastSeq = 0;
  response.setEncoding('utf8');
  for await (const chunk of response as AsyncIterable<string>) {
    const at = now();
    bytes += chunk.length;
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      events += 1;
      const seq = Number(/"seq":(\d+)/u.exec(line)?.[1] ?? lastSeq + 1);
      if (seq !== lastSeq + 1 && !line.includes('"type":"done"')) unordered += 1;
      lastSeq = seq;
      if (line.includes('"type":"chunk"'))
        for (const [, sent] of line.matchAll(/T([\d.]+);/gu)) {
          tokens += 1;
          delays.push(at - Number(sent));
        }
    }
  }
  missing += task.tokens - tokens;
}

const streams = Array.from({ length: task.streams }, async (_, index) => {
  // Not all at once, as people do not come at once either.
  await new Promise((resolve) => setTimeout(resolve, (index * task.arriveMs) / task.streams));
  const url = task.messages === null ? task.url : `${task.url}/api/chat/messages`;
  const name = `${task.name}-${index}`;
  const body =
    task.messages === null
      ? undefined
      : { content: `${task.messages} ${name} ${task.rate} ${task.tokens}`, conversationId: name };
  await read(await open(url, body));
});
await Promise.all(streams);
delays.sort((one, other) => one - other);
const at = (part: number): number | null => delays[Math.floor(delays.length * part)] ?? null;
const result: LoadResult = {
  events,
  missing,
  unordered,
  bytes,
  p50: at(0.5),
  p99: at(0.99),
  most: delays.at(-1) ?? null,
};
process.stdout.write(JSON.stringify(result));
