import type { Attack } from './attack.ts';
import { judge, MORE_MS } from './judge.ts';
import type { Honest } from './judge.ts';
import { startProvider, turn, writing } from './provider.ts';
import { createSite } from './site.ts';

export type Verdict = {
  readonly attack: Attack;
  /** Null: it was not made, and why. */
  readonly skipped: string | null;
  readonly wrong: readonly string[];
  readonly milliseconds: number;
  /** Beyond the honest run. */
  readonly memory: number | null;
};

/** The same turn without any attack: the best of some. */
export async function measureHonest(command: string): Promise<Honest> {
  const runs: Honest[] = [];
  for (let run = 0; run < 3; run += 1) {
    const site = await createSite(command);
    const provider = await startProvider(writing('a.txt'));
    try {
      const ended = await site.run(turn(provider.url), { limitMs: 60_000 });
      if (ended.exitCode !== 0) throw new Error(`the honest run failed: ${ended.stderr}`);
      runs.push(ended);
    } finally {
      await provider.close();
      await site.dispose();
    }
  }
  const [best] = runs.toSorted((left, right) => left.milliseconds - right.milliseconds);
  if (best === undefined) throw new Error('nothing was measured');
  return best;
}

export async function make(attack: Attack, honest: Honest, command: string): Promise<Verdict> {
  const site = await createSite(command);
  const provider = await startProvider(attack.provider ?? writing('a.txt'));
  try {
    await attack.plant?.(site);
    const before = await site.look();
    const words = attack.words?.(site, provider) ?? turn(provider.url, attack.options);
    const ended = await site.run(words, {
      limitMs: honest.milliseconds + MORE_MS + (attack.waits ?? 0) + 2000,
      ...(attack.env === undefined ? {} : { env: attack.env(site) }),
    });
    const then = await site.look();
    const wrong = await judge(attack, { ended, site, provider }, before, then, honest);
    return {
      attack,
      skipped: null,
      wrong,
      milliseconds: ended.milliseconds,
      memory: ended.memory === null || honest.memory === null ? null : ended.memory - honest.memory,
    };
  } finally {
    await provider.close();
    await site.dispose();
  }
}
