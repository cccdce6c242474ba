import { expect } from 'vitest';

import type { ServedProcess } from './serve.ts';

/** Uploads a text and leaves its session open; returns the id. */
export async function upload(
  server: Pick<ServedProcess, 'ask'>,
  name: string,
  content: string,
  operation = 'create',
): Promise<string> {
  const json = { intent: 'test', target_file: name, operation };
  const { json: begun } = await server.ask('/api/write-sessions', { json });
  const { session_id: id } = begun as { session_id: string };
  const headers = { 'content-type': 'application/octet-stream' };
  const path = `/api/write-sessions/${id}/content?offset=0`;
  const { status } = await server.ask(path, { method: 'PUT', headers, body: content });
  expect(status).toBeLessThan(300);
  return id;
}
