// `npm run chat:draw`: talks with the built command on a pseudo-terminal and draws what its screen showed, at the pace of
// the conversation, as docs/chat.svg. Readers who ask for reduced motion get the last screen.
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type * as xterm from '@xterm/headless';
import type { Script } from '@orion/llm-adapters/scripted';

import { at, createSandbox } from './support/sandbox.ts';
import { beginCall } from './support/scripts.ts';
import type { Terminal } from './support/terminal.ts';

// A CommonJS module, whose names Node does not find.
const xtermModule = createRequire(import.meta.url)('@xterm/headless') as typeof xterm;

const COLUMNS = 80;
const ROWS = 24;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.83;
const MARGIN = 18;
const TITLE_HEIGHT = 34;
/** How often the screen is looked at. */
const FRAME_MS = 40;
/** Nobody watches a longer pause. */
const LONGEST_PAUSE_MS = 1200;
const KEY_MS = 60;

const TARGET = fileURLToPath(new URL('../../docs/chat.svg', import.meta.url));

const GUIDE = [
  '# site',
  '',
  '## Install',
  '',
  '    npm install --global site',
  '',
  ...Array.from({ length: 12 }, (_, part) => [
    `## Step ${part + 1}`,
    '',
    `What \`site\` does in step ${part + 1}, and how to change it in \`site.json\`.`,
    '',
    '- It reads one file at a time.',
    '- It never writes outside of `dist`.',
    '',
  ]).flat(),
].join('\n');

const SCRIPT: Script = {
  shape: { chunk: 24, eventsPerSecond: 25, firstDelayMs: 300 },
  behaviours: [
    {
      name: 'the guide',
      reply: { document: { target: 'docs/guide.md', content: { kind: 'text', text: GUIDE } } },
    },
    {
      ...beginCall({ target_file: 'docs/guide.md', intent: 'A guide to site' }),
      reply: {
        text: 'I will cover installation first, then each step.\n',
        toolCalls: [
          {
            name: 'WritePlanTool_begin',
            arguments: {
              intent: 'A guide to site',
              operation: 'create',
              target_file: 'docs/guide.md',
            },
          },
        ],
      },
    },
    {
      name: 'Windows',
      when: { lastUser: { contains: 'Windows' } },
      reply: {
        text: 'On **Windows** the same command works in PowerShell:\n\n```sh\nnpm install --global site\n```\n',
      },
    },
    { name: 'last word', reply: { text: 'The guide is in `docs/guide.md`.' } },
  ],
};

const machine = await createSandbox();
let recording: readonly Piece[] = [];
try {
  const site = join(machine.home, 'code/site');
  const files = {
    'AGENTS.md': `# site\n\n${'Write short sentences. '.repeat(50)}\n`,
    'src/cli.ts': 'export function main(): void {\n  console.log("site");\n}\n'.repeat(9),
    'src/client.ts': 'export {};\n',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(site, name)), { recursive: true });
    await writeFile(join(site, name), text);
  }
  const provider = await machine.provider(SCRIPT);
  const args = ['chat', '--approve', 'ask', ...at(provider), '--model', 'gpt-5'];
  const terminal = machine.terminal(args, { cwd: site, columns: COLUMNS, rows: ROWS });
  const recorder = record(terminal);
  await talk(terminal);
  await pause(LONGEST_PAUSE_MS);
  // The folder of the recording is a temporary one.
  recording = (await recorder.stop()).map(({ at: time, text }) => ({
    at: time,
    text: text.replaceAll(machine.home, '/home/me'),
  }));
  terminal.type('/exit\r');
  await terminal.finished;
} finally {
  await machine.dispose();
}
await writeFile(TARGET, drawn(await framesOf(recording)));

async function talk(terminal: Terminal): Promise<void> {
  const type = async (text: string): Promise<void> => {
    for (const key of text) {
      terminal.type(key);
      await pause(KEY_MS);
    }
  };
  await terminal.waitForScreen('gpt-5 · act');
  await type('Write docs/guide.md: how to use @cli');
  await terminal.waitForScreen('src/client.ts');
  await pause(500);
  terminal.type('\t');
  await terminal.waitForScreen('@src/cli.ts');
  await pause(400);
  terminal.type('\r');
  await terminal.waitForScreen(/docs\/guide\.md +\d+ lines/u);
  await type('and mention Windows');
  await pause(300);
  terminal.type('\r');
  await terminal.waitForScreen('(y)es');
  await pause(1500);
  terminal.type('y');
  await terminal.waitForScreen('Created docs/guide.md');
  await terminal.waitForScreen('PowerShell');
  await terminal.waitForScreen(/act · .*tokens/u);
}

/** What the command printed, and when. */
type Piece = { readonly at: number; readonly text: string };

function record(terminal: Terminal): { stop(): Promise<readonly Piece[]> } {
  const pieces: Piece[] = [];
  let stopped = false;
  let seen = 0;
  const watch = async (): Promise<void> => {
    while (!stopped) {
      const text = terminal.output().slice(seen);
      seen += text.length;
      if (text !== '') pieces.push({ at: performance.now(), text });
      await pause(FRAME_MS);
    }
  };
  const watching = watch();
  return {
    async stop() {
      stopped = true;
      await watching;
      return pieces;
    },
  };
}

/** Characters that look alike, and where they begin. */
type Run = { readonly column: number; readonly text: string; readonly style: string };
type Frame = { readonly seconds: number; readonly rows: readonly (readonly Run[])[] };

async function framesOf(pieces: readonly Piece[]): Promise<readonly Frame[]> {
  const terminal = new xtermModule.Terminal({
    cols: COLUMNS,
    rows: ROWS,
    allowProposedApi: true,
  });
  const frames: Frame[] = [];
  let shown = 0;
  let last = pieces[0]?.at ?? 0;
  for (const { at: time, text } of pieces) {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    shown += Math.min(time - last, LONGEST_PAUSE_MS);
    last = time;
    frames.push({ seconds: shown / 1000, rows: rowsOf(terminal) });
  }
  return frames;
}

function rowsOf({ buffer: { active } }: xterm.Terminal): Frame['rows'] {
  return Array.from({ length: ROWS }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    const runs: Run[] = [];
    for (let column = 0; column < COLUMNS; column += 1) {
      const cell = line?.getCell(column);
      const isCursor = row === active.cursorY && column === active.cursorX;
      const text = cell === undefined || cell.getChars() === '' ? ' ' : cell.getChars();
      const style = isCursor ? 'cursor' : cell === undefined ? '' : styleOf(cell);
      const before = runs.at(-1);
      if (before?.style === style) runs[runs.length - 1] = { ...before, text: before.text + text };
      else runs.push({ column, text, style });
    }
    return runs.filter(({ text, style }) => text.trim() !== '' || style === 'cursor');
  });
}

function styleOf(cell: xterm.IBufferCell): string {
  const color = cell.isFgPalette() ? ` c${cell.getFgColor()}` : '';
  return `${cell.isBold() ? ' bold' : ''}${cell.isDim() ? ' dim' : ''}${color}`.trim();
}

/** Each row is drawn once for as long as it stays the same. */
function drawn(frames: readonly Frame[]): string {
  const width = Math.round(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
  const height = TITLE_HEIGHT + ROWS * LINE_HEIGHT + MARGIN;
  const texts = Array.from({ length: ROWS }, (_, row) => {
    const spans: { from: number; to: number | null; runs: readonly Run[] }[] = [];
    for (const { seconds, rows } of frames) {
      const runs = rows[row] ?? [];
      const before = spans.at(-1);
      if (before !== undefined && JSON.stringify(before.runs) === JSON.stringify(runs)) continue;
      if (before !== undefined) before.to = seconds;
      spans.push({ from: seconds, to: null, runs });
    }
    return spans
      .filter(({ runs, from, to }) => runs.length > 0 && from !== to)
      .map(({ from, to, runs }) => rowText(row, runs, from, to));
  }).flat();
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recording of orion chat: a prompt names a file, a guide is written while it is saved, shown and approved, and a prompt that waited is answered">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #c9d1d9; }
.bold { font-weight: bold; } .dim { opacity: 0.6; } .cursor { text-decoration: underline; fill: #79c0ff; }
.c1, .c9 { fill: #ff7b72; } .c2, .c10 { fill: #7ee787; } .c3, .c11 { fill: #d29922; } .c4, .c12 { fill: #79c0ff; } .c5, .c13 { fill: #d2a8ff; } .c6, .c14 { fill: #56d4dd; } .c8 { fill: #8b949e; }
@keyframes on { from { visibility: hidden; } to { visibility: visible; } }
@keyframes off { to { visibility: hidden; } }
@media (prefers-reduced-motion: reduce) { text { animation: none !important; } .gone { display: none; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="22" cy="18" r="5" fill="#ff5f56"/><circle cx="40" cy="18" r="5" fill="#ffbd2e"/><circle cx="58" cy="18" r="5" fill="#27c93f"/>
${texts.join('\n')}
</svg>
`;
}

function rowText(row: number, runs: readonly Run[], from: number, to: number | null): string {
  const y = TITLE_HEIGHT + (row + 1) * LINE_HEIGHT - 4;
  const on = `on 1ms ${from.toFixed(2)}s both`;
  const animation = to === null ? on : `${on}, off 1ms ${to.toFixed(2)}s forwards`;
  const spans = runs.map(({ column, text, style }) => {
    const x = (MARGIN + column * CHARACTER_WIDTH).toFixed(1);
    const classes = style === '' ? '' : ` class="${style}"`;
    return `<tspan x="${x}"${classes}>${escape(style === 'cursor' ? text.replace(' ', '_') : text.trimEnd())}</tspan>`;
  });
  return `<text${to === null ? '' : ' class="gone"'} y="${y}" style="animation:${animation}">${spans.join('')}</text>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
