import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { formatTable, readCount } from '@orion/common';
import { systemClock } from '@orion/contracts';
import { createCodeDefinitionsTool } from '@orion/tool-runner';
import { createWorkspace } from '@orion/workspace';

import { formatSpread, spreadOf } from './src/statistics.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '5' } } });
const runs = readCount('runs', values.runs, 1);
const KIB = 1024;
const SIZES = [1, 256, 512, 1024];

/** About a dozen lines of each language, again and again. */
const SOURCES: Readonly<Record<string, string>> = {
  ts: 'export class Shop<T> extends Base<T> {\n  async sell(item: string, count = 1): Promise<T> {\n    const sum = count * this.price(item);\n    return sum > 3 ? this.receipt({ item, sum }) : null;\n  }\n}\nexport const open = (a: number) => a + 1;\n',
  tsx: 'export function Page({ items }: Props) {\n  return <List>{items.map((item) => <Item key={item.id}>{item.name}</Item>)}</List>;\n}\n',
  js: 'class Shop {\n  sell(item, count = 1) {\n    const sum = count * this.price(item);\n    return sum > 3 ? { item, sum } : null;\n  }\n}\nexports.open = function (a) { return a + 1; };\n',
  py: 'class Shop(Base):\n    def sell(self, item: str, count: int = 1) -> int:\n        total = count * self.price(item)\n        return total if total > 3 else None\n\ndef open(a): return a + 1\n\n',
  go: 'type Shop struct {\n\tname string\n}\n\nfunc (s *Shop) Sell(item string, count int) (int, error) {\n\tsum := count * s.price(item)\n\tif sum > 3 {\n\t\treturn sum, nil\n\t}\n\treturn 0, errEmpty\n}\n\n',
  rs: 'pub struct Shop<T> { name: T }\n\nimpl<T: Clone> Shop<T> {\n    pub fn sell(&self, item: &str, count: u32) -> Option<u32> {\n        let sum = count * self.price(item);\n        if sum > 3 { Some(sum) } else { None }\n    }\n}\n\n',
  java: 'class Shop<T> extends Base<T> {\n    public T sell(String item, int count) throws Empty {\n        int sum = count * price(item);\n        return sum > 3 ? receipt(item, sum) : null;\n    }\n}\n\n',
};

const folder = await realpath(await mkdtemp(join(tmpdir(), 'orion-bench-')));
const workspace = await createWorkspace({ root: folder, clock: systemClock });
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs each: median (min-max), in ms\n\n`,
  );
  const tool = createCodeDefinitionsTool(workspace, { fileMs: 60_000, totalMs: 60_000 });
  const rows: string[][] = [];
  for (const [extension, source] of Object.entries(SOURCES)) {
    const medians: number[] = [];
    const row: string[] = [extension];
    for (const size of SIZES) {
      const path = `${size}.${extension}`;
      await writeFile(
        join(folder, path),
        source.repeat(Math.ceil((size * KIB) / source.length)).slice(0, size * KIB),
      );
      const times: number[] = [];
      for (let run = 0; run < runs; run += 1) times.push(await timeOf(path));
      const spread = spreadOf(times);
      medians.push(spread.median);
      row.push(formatSpread(spread, 0));
    }
    const [start = 0, , half = 0, whole = 0] = medians;
    rows.push([...row, ((whole - start) / (half - start)).toFixed(2)]);
  }
  process.stdout.write(
    `${formatTable([
      ['language', ...SIZES.map((size) => `${size} KiB`), '1024 over 512 KiB, without the start'],
      ...rows,
    ])}\n`,
  );

  async function timeOf(path: string): Promise<number> {
    const began = performance.now();
    const context = { projectId: 'p', requestId: 'r', mode: 'plan', toolCallId: 'c' } as const;
    await tool.execute({ path }, { ...context, signal: new AbortController().signal });
    return performance.now() - began;
  }
} finally {
  await workspace.close();
  await rm(folder, { recursive: true, force: true });
}
