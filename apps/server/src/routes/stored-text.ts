import { OrionError } from '@orion/contracts';

/**
 * The body of an answer that has announced its length. Rejects if the first bytes cannot be read, or if there are none:
 * no part of an answer has been sent then. Where later ones fail or are missing, `onBroken` is called, which has to cut
 * the connection: an end would look like that of the answer.
 */
export async function storedText(
  source: AsyncIterable<Uint8Array>,
  length: number,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const reading = whole(source, length);
  let next: Promise<IteratorResult<Uint8Array, void>> | null = reading.next();
  await next;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await (next ?? reading.next());
          next = null;
          if (done === true) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onBroken(error);
          controller.close();
        }
      },
      async cancel() {
        await reading.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Throws where the source ends early. Each chunk of it is valid only until the next one is asked for. */
async function* whole(
  source: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array, void> {
  let left = length;
  for await (const chunk of source) {
    left -= chunk.length;
    yield Uint8Array.from(chunk);
  }
  if (left > 0)
    throw new OrionError({
      code: 'SESSION_BUSY',
      message: 'The text was written or removed while it was read.',
    });
}
