#!/usr/bin/env node
// Runs on every Node that knows ES modules, to say what to do on one that is too old: no other imports than
// built-in ones, no top-level await, and nothing newer than the check itself.
import module from 'node:module';
import v8 from 'node:v8';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    'orion: NODE_TOO_OLD: this is Node ' +
      process.versions.node +
      '. Install Node 22.12 or newer.\n',
  );
  process.exitCode = 2;
} else {
  // A stream of 100 MB is garbage that dies young. A young generation that may grow to 48 MB lets it pile up, network
  // buffers included; one that stays small collects it at once and costs no more time.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  // What outlives it, such as text until it is on the disk, is garbage soon too: the old generation is collected
  // when it has grown by little, not when it has doubled. Without `--optimize-for-size`: on a V8 that has started it
  // makes one process in ten hang when it ends, or before.
  v8.setFlagsFromString('--heap-growing-percent=5');
  // And at once: marked little by little, while the stream goes on, what dies meanwhile stays until the next time, which
  // made fifteen megabytes of a long file. The pause is some twenty milliseconds.
  v8.setFlagsFromString('--no-incremental-marking');
  // The last compiler takes twelve megabytes to gain nothing: a command is over before it pays.
  v8.setFlagsFromString('--no-turbofan');
  module.enableCompileCache();
  void import('./cli.ts').then((cli) => cli.main(import.meta.url));
}
