// `npm run demo:draw`: runs the real demo and draws what it printed, line by line at the pace of the
// run, as docs/demo.svg. Readers who ask for reduced motion get the finished text.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const COLUMNS = 112;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.83;
const MARGIN = 18;
const TITLE_HEIGHT = 34;

const root = fileURLToPath(new URL('../..', import.meta.url));
const demo = spawn(process.execPath, ['apps/cli/dist/main.js', 'demo'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const ended = once(demo, 'close');
const started = performance.now();
const rows = [{ text: '$ npm run demo', seconds: 0 }];
for await (const line of createInterface({ input: demo.stdout })) {
  const seconds = (performance.now() - started) / 1000;
  for (const text of wrap(line)) rows.push({ text, seconds });
}
const [code] = await ended;
if (code !== 0) throw new Error(`the demo ended with ${code}`);

const width = Math.round(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
const height = TITLE_HEIGHT + rows.length * LINE_HEIGHT + MARGIN;
const lines = rows.map(({ text, seconds }, row) => {
  const kind = text.startsWith('$') ? 'command' : /^\d\. /.test(text) ? 'step' : 'output';
  const y = TITLE_HEIGHT + (row + 1) * LINE_HEIGHT - 4;
  return `<text class="${kind}" x="${MARGIN}" y="${y}" style="animation-delay:${seconds.toFixed(2)}s">${escape(text)}</text>`;
});
writeFileSync(
  `${root}/docs/demo.svg`,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recording of npm run demo: a file streams, the process is killed halfway, the file is recovered and compared">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #c9d1d9; animation: appear 1ms both; }
.step { fill: #79c0ff; }
.command { fill: #7ee787; }
@keyframes appear { from { opacity: 0; } to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="22" cy="18" r="5" fill="#ff5f56"/><circle cx="40" cy="18" r="5" fill="#ffbd2e"/><circle cx="58" cy="18" r="5" fill="#27c93f"/>
${lines.join('\n')}
</svg>
`,
);

/** The rows that a line fills, cut at blanks; continued rows keep the line's indent. */
function wrap(line) {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const filled = [];
  let rest = line;
  while (rest.length > COLUMNS) {
    const blank = rest.lastIndexOf(' ', COLUMNS);
    const end = blank > indent.length ? blank : COLUMNS;
    filled.push(rest.slice(0, end));
    rest = `${indent}  ${rest.slice(end).trimStart()}`;
  }
  return [...filled, rest];
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
