#!/usr/bin/env node
// Runs on every Node that knows ES modules, to say what to do on one that is too old: no imports, no top-level await, and
// nothing newer than the check itself. No flag of the engine is set, here or elsewhere (docs/decisions/0018).
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    'orion: NODE_TOO_OLD: this is Node ' +
      process.versions.node +
      '. Install Node 22.19 or newer.\n',
  );
  process.exitCode = 2;
} else {
  void import('./cli.ts').then((cli) => cli.main(import.meta.url));
}
