import { grammars } from './bundler/grammars.js';
import { manPages } from './bundler/man-pages.js';
import { plainEntry } from './bundler/plain-entry.js';

// One folder with everything in it, split at each `await import()`: a command loads only its
// own part. Types are checked elsewhere (`npm run typecheck`), so nothing but the bundler
// writes to dist.
export default {
  input: { main: 'src/main.ts' },
  platform: 'node',
  resolve: { conditionNames: ['node', 'default'] },
  tsconfig: true,
  // The library of the editor has one entry for all it has; only what is used of it is loaded before the first prompt.
  treeshake: {
    moduleSideEffects: [
      { test: /\/node_modules\/(?:@earendil-works\/pi-tui|marked)\//, sideEffects: false },
    ],
  },
  plugins: [plainEntry(), manPages(), grammars()],
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
};
