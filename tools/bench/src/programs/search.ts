// Run by ../search-time.ts: <where the workspace package is> <folder> <searches as JSON> <runs>. Prints the times in
// milliseconds of each search, one array for each run, and how many lines they found.
const [, , workspaceModule = '', root = '', searches = '', runs = ''] = process.argv;
const { createWorkspace } = (await import(workspaceModule)) as typeof import('@orion/workspace');
const { systemClock: clock } = await import('@orion/contracts');

type Search = {
  readonly pattern: string;
  readonly syntax: 'literal' | 'regex';
  readonly ignoreCase: boolean;
};

const workspace = await createWorkspace({ root, clock });
const rounds: { readonly ms: number; readonly matches: number }[][] = [];
for (let run = 0; run < Number(runs); run += 1) {
  const round = [];
  for (const search of JSON.parse(searches) as readonly Search[]) {
    const began = performance.now();
    const { matches, stopped } = await workspace.searchFiles(search);
    if (stopped !== null) throw new Error(`a search stopped early: ${stopped.reason}`);
    round.push({ ms: performance.now() - began, matches });
  }
  rounds.push(round);
}
process.stdout.write(JSON.stringify(rounds));
await workspace.close();
export {};
