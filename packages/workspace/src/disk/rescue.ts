import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { writeAll } from './write-all.ts';

/** Writes the chunks to a file that did not exist, privately and durably. */
export async function rescueTo(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, 0o600);
  try {
    let position = 0;
    for await (const chunk of chunks) {
      await writeAll(file, chunk, position);
      position += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
