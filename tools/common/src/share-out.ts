/** Gives each item to the next free lane, in order, until none is left. */
export async function shareOut<Lane, Item>(
  lanes: readonly Lane[],
  items: readonly Item[],
  step: (item: Item, lane: Lane, index: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  await Promise.all(
    lanes.map(async (lane) => {
      for (const [index, item] of left) await step(item, lane, index);
    }),
  );
}
