import { startProvider, turn, writing } from './provider.ts';
import type { Site } from './site.ts';

/** An honest turn before the attack, for what it leaves; it writes `b.txt`. */
export async function playEarlierTurn(site: Site, prompt?: string): Promise<void> {
  const provider = await startProvider(writing('b.txt'));
  try {
    const { exitCode, stderr } = await site.run(turn(provider.url, [], prompt), {
      limitMs: 60_000,
    });
    if (exitCode !== 0) throw new Error(`the earlier turn failed: ${stderr}`);
  } finally {
    await provider.close();
  }
}
