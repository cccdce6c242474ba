// Preloaded into every measured process: writes what it has used when it exits. CommonJS, since the start of the
// module loader would be measured too.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(
    process.env.ORION_BENCH_USAGE,
    JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakKiB: peak() ?? maxRSS }),
  );
});

/** The peak of this program alone: `maxRSS` also counts the process that it was started from. */
function peak() {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))[1]);
  } catch {
    return undefined;
  }
}
