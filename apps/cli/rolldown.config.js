import { directBuiltins } from './bundler/direct-builtins.js';
import { plainEntry } from './bundler/plain-entry.js';

// One folder with everything in it, split at each `await import()`: a command loads only its
// own part. Types are checked elsewhere (`npm run typecheck`), so nothing but the bundler
// writes to dist.
export default {
  input: { main: 'src/main.ts' },
  platform: 'node',
  resolve: { conditionNames: ['node', 'default'] },
  tsconfig: true,
  plugins: [directBuiltins({ except: /[/\\]cli[/\\]src[/\\]main\.ts$|^\0rolldown/ }), plainEntry()],
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    sourcemap: true,
    // Node keeps the text of every file that it has loaded, and checks its compile cache against it. Names of functions
    // and classes stay, since they stand in stack traces and in errors; lines stay, since the demo streams them.
    minify: {
      compress: { keepNames: { function: true, class: true } },
      mangle: { keepNames: true },
      codegen: { removeWhitespace: false },
    },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
};
