/** Swaps a directory for a link and back, so many times, as fast as the system lets it. */
import { renameSync, rmSync } from 'node:fs';

const [directory = '', link = '', aside = '', swaps = '0'] = process.argv.slice(2);

let spins = 0;
for (let swap = 0; swap < Number(swaps); swap++) {
  renameSync(directory, aside);
  putInPlace(link);
  renameSync(directory, link);
  putInPlace(aside);
  // Longer and shorter stays, so that each step of a change meets the link at some time.
  for (const end = spins + (swap % 64) * 64; spins < end; spins++);
}
process.stdout.write(`${swaps}\n`);

/** A change that found no directory may have made one. */
function putInPlace(from: string): void {
  for (;;) {
    try {
      renameSync(from, directory);
      return;
    } catch {
      clear();
    }
  }
}

function clear(): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // Something more was written there meanwhile: the next attempt takes it too.
  }
}
