// Run by ../store-open.ts: <where the store's package is> <database file>. What opening costs a process that has
// just started: loading SQLite, opening the file, bringing the schema up to date and one look into it. Loading the
// package, file by file here, is measured separately: the command is one file.
const [, , module = '', path = ''] = process.argv;
const began = performance.now();
const { openStore } = (await import(module)) as typeof import('@orion/trace-store');
const loaded = performance.now();
const store = openStore(
  { kind: 'sqlite', path },
  {
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      schedule(milliseconds, callback) {
        const timer = setTimeout(callback, milliseconds);
        return () => {
          clearTimeout(timer);
        };
      },
    },
  },
);
await store.traces.query({ limit: 1 });
process.stdout.write(
  JSON.stringify({ loadMs: loaded - began, openMs: performance.now() - loaded }),
);
await store.close();
export {};
