import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { measure } from './measure.ts';
import type { Measured } from './measure.ts';
import type { Provider } from './provider.ts';
import { contentOf, eventsOf, targetOf } from './script.ts';
import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

export type Figures = { readonly wallMs: Spread; readonly cpuMs: Spread; readonly peakMiB: Spread };

export type SizeResult = {
  readonly lines: number;
  readonly contentBytes: number;
  readonly events: number;
  /** What the bare reader received. */
  readonly wireBytes: number;
  readonly orion: Figures;
  readonly bare: Figures;
  /** Medians of the ratios of neighbouring runs, since the machine's pace changes in the long run. */
  readonly wallRatio: Spread;
  readonly cpuRatio: Spread;
  /** How much the first request after the receipt is larger than the first one, and than the one for the content. */
  readonly requestGrowth: { readonly sinceFirst: number; readonly sinceContent: number };
};

export type CompareOptions = {
  readonly lines: number;
  readonly runs: number;
  readonly command: string;
  readonly provider: Provider;
  readonly folder: string;
};

const BARE_READER = fileURLToPath(new URL('./programs/bare-reader.cjs', import.meta.url));

/** The command and the bare reader on the same stream, one after the other and in changing order. */
export async function compareSize(options: CompareOptions): Promise<SizeResult> {
  const { lines, runs, provider, folder } = options;
  const content = contentOf(lines);
  const asked = (await provider.requests()).length;
  // Not counted: it fills Node's compile cache and shows what the command asks.
  await runOrion(options, content);
  const bodies = (await provider.requests()).slice(asked).map(({ body }) => JSON.stringify(body));
  const bodiesFile = join(folder, 'requests.json');
  await writeFile(bodiesFile, JSON.stringify(bodies));

  const orion: Measured[] = [];
  const bare: Measured[] = [];
  const bareReader = { args: [BARE_READER, provider.url, bodiesFile], folder };
  for (let run = 0; run < runs; run += 1) {
    if (run % 2 === 0) orion.push(await runOrion(options, content));
    bare.push(await measure(bareReader));
    if (run % 2 === 1) orion.push(await runOrion(options, content));
  }
  const received = new Set(bare.map(({ stdout }) => stdout));
  if (received.size !== 1) throw new Error('the bare reader did not get the same bytes each time');
  const [first = 0, forContent = 0, afterReceipt = 0] = bodies.map((body) =>
    Buffer.byteLength(body),
  );
  return {
    lines,
    contentBytes: Buffer.byteLength(content),
    events: eventsOf(content),
    wireBytes: Number([...received][0]),
    orion: figuresOf(orion),
    bare: figuresOf(bare),
    wallRatio: spreadOf(orion.map(({ wallMs }, run) => wallMs / (bare[run]?.wallMs ?? 0))),
    cpuRatio: spreadOf(orion.map(({ cpuMs }, run) => cpuMs / (bare[run]?.cpuMs ?? 0))),
    requestGrowth: {
      sinceFirst: afterReceipt - first,
      sinceContent: afterReceipt - forContent,
    },
  };
}

async function runOrion(options: CompareOptions, content: string): Promise<Measured> {
  const { lines, command, provider, folder } = options;
  const workspace = join(folder, 'workspace');
  const target = targetOf(lines);
  await mkdir(workspace);
  try {
    const measured = await measure({
      args: [
        command,
        'run',
        `Write ${target}`,
        `--cwd=${workspace}`,
        `--base-url=${provider.url}`,
        '--model=scripted',
      ],
      folder,
    });
    // A wrong file would be no result at all.
    if ((await readFile(join(workspace, target), 'utf8')) !== content) {
      throw new Error(`${target} is not what was streamed`);
    }
    return measured;
  } finally {
    await rm(workspace, { recursive: true });
  }
}

function figuresOf(measured: readonly Measured[]): Figures {
  return {
    wallMs: spreadOf(measured.map(({ wallMs }) => wallMs)),
    cpuMs: spreadOf(measured.map(({ cpuMs }) => cpuMs)),
    peakMiB: spreadOf(measured.map(({ peakMiB }) => peakMiB)),
  };
}
