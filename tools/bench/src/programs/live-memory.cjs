// Preloaded with --expose-gc: on SIGUSR2 it collects garbage and writes what is left to the file that ORION_BENCH_MEMORY
// names. What a process holds besides is Node's to give back, and it does that when somebody needs it.
const { renameSync, writeFileSync } = require('node:fs');

const file = process.env.ORION_BENCH_MEMORY;
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
});
