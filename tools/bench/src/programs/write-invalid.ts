// Run by ../validation-memory.ts: <where the packages are> <folder> <MiB> <bytes from one invalid place to the next,
// 0 for none>. Streams a text into a session as a model would, and writes it: asked about, then replaced.
const [, , core = '', workspaceModule = '', root = '', size = '', every = ''] = process.argv;
const { createWritePlanTool } = (await import(core)) as typeof import('@orion/core');
const { createPatternMatcher, createWorkspace } = (await import(
  workspaceModule
)) as typeof import('@orion/workspace');
const { systemClock: clock } = await import('@orion/contracts');
const { SESSION_RECORD } = await import('@orion/testkit/records');

const workspace = await createWorkspace({ root, clock });
const tool = createWritePlanTool({
  workspace,
  clock,
  createId: () => crypto.randomUUID(),
  patterns: createPatternMatcher(clock),
});
const { handle } = await tool.begin({
  intent: 'bench',
  target_file: 'written.txt',
  operation: 'create',
  final_newline: true,
});
const PIECE = 64 * 1024;
const bytes = Number(size) * 1024 * 1024;
const text = pieceOf(Number(every));
for (let piece = 0; handle.bytes() < bytes; piece += 1) {
  handle.append(text);
  // As often as a model's stream would be saved at 100 lines or so.
  if (piece % 16 === 15) await handle.save(SESSION_RECORD);
}
await handle.save(SESSION_RECORD);
const facts = {
  start: 0,
  end: null,
  notes: { fence_stripped: false, warnings: [] },
  innerDoneLines: [],
  seams: [],
  askOmissions: false,
};
const began = performance.now();
const first = await tool.finalizeSession(handle.id, handle.contentPath(), {
  ...facts,
  repair: null,
});
const found = first.kind === 'needs_corrections' ? first.corrections.invalid_count : 0;
const last =
  first.kind === 'written'
    ? first
    : await tool.finalizeSession(handle.id, handle.contentPath(), {
        ...facts,
        repair: { found, rounds: [], replace: true },
      });
if (last.kind !== 'written') throw new Error('the replaced text is not valid');
const { replaced, final_length } = last.receipt.validation_summary;
process.stdout.write(
  JSON.stringify({ found, replaced, bytes: final_length, ms: performance.now() - began }),
);
await handle.remove();
await workspace.close();

function pieceOf(step: number): string {
  if (step > 0 && step <= 3) return '\udc00'.repeat(PIECE / 3);
  const lines = 'one line of a text that goes on and on\n'.repeat(PIECE / 40);
  if (step === 0) return lines;
  let piece = '';
  for (let from = 0; from < lines.length; from += step) {
    piece += `${lines.slice(from, from + step - 1)}\0`;
  }
  return piece;
}

export {};
