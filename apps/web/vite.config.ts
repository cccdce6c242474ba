import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    outDir: 'dist',
    // What belongs to this build: beside it may lie what a cache brought back of earlier ones.
    manifest: 'built-files.json',
    // The server embeds every file by its name, and the page may run no inline script.
    assetsInlineLimit: 0,
    // Parts that are loaded later are named relative to the ones that load them, wherever the page is offered.
    modulePreload: false,
    cssCodeSplit: false,
    target: 'es2024',
    rolldownOptions: {
      onLog(level, log, next) {
        // What the directive asks of servers has no meaning here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log);
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic' } },
});
