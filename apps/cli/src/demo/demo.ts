import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { SessionListing, WriteReceipt } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import { leaveProcess, STOP_SIGNALS } from '../process/leave-process.ts';
import type { CommandResult } from '../process/finish.ts';
import type { ResultLine } from '../rendering/result-line.ts';
import { receiptLine } from '../rendering/write-lines.ts';
import { formatBytes, formatCount, plural } from '../terminal/format.ts';
import { readDemoDocument, type DemoDocument } from './document.ts';
import { createProcesses, type Ended, type Processes } from './processes.ts';
import { DEMO_TARGET, demoScript } from './script.ts';

const POLL_MS = 10;
const KILL_AT = 0.5;
const STREAM_LIMIT_MS = 60_000;

/** Ends the demo: something was not as promised. */
class BrokenPromise extends Error {}

type Stage = {
  readonly context: CommandContext;
  readonly processes: Processes;
  readonly folder: string;
  readonly workspace: string;
  readonly document: DemoDocument;
  readonly documentPath: string;
  readonly say: (text: string) => Promise<void>;
};

/** `orion demo`: a long file is streamed, the process killed half-way, the session recovered, the file compared. */
export async function demoCommand(
  context: CommandContext,
  options: { readonly keep?: boolean },
): Promise<CommandResult> {
  const document = await readDemoDocument(context.entry);
  const folder = await mkdtemp(join(tmpdir(), 'orion-demo-'));
  const processes = createProcesses(context, folder);
  const leave = (): void => {
    processes.endAll();
    void rm(folder, { recursive: true, force: true, maxRetries: 3 }).finally(() =>
      leaveProcess(EXIT.interrupted),
    );
  };
  for (const signal of STOP_SIGNALS) process.on(signal, leave);
  const say = async (text: string): Promise<void> => {
    await context.stdout.write(`${text}\n`);
    await context.stdout.flush();
  };
  try {
    const workspace = join(folder, 'workspace');
    const documentPath = join(folder, 'document.txt');
    await mkdir(workspace);
    await writeFile(documentPath, document.text);
    await tellStory({ context, processes, folder, workspace, document, documentPath, say });
    return { exitCode: EXIT.done };
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    context.screen.line(`orion: the demo failed: ${error.message}`, 'error');
    return { exitCode: EXIT.failure };
  } finally {
    processes.endAll();
    for (const signal of STOP_SIGNALS) process.off(signal, leave);
    if (options.keep === true) await say(`\nEverything is in ${folder}`);
    else await rm(folder, { recursive: true, force: true });
  }
}

async function tellStory(stage: Stage): Promise<void> {
  const { document, say } = stage;
  await say(
    `A document of ${plural(document.lines, 'line')} (${formatBytes(Buffer.byteLength(document.text))}): ` +
      `the program text of this command, ${plural(document.files, 'file')}.\n` +
      'A model server of our own streams it over HTTP on loopback. It knows nothing but the requests it gets.',
  );
  const url = await startProvider(stage);

  await say(
    `\n1. orion run "Write ${DEMO_TARGET}"\n` +
      '   The model makes one small tool call; the content follows as plain text, and every piece of it goes to disk.',
  );
  const session = await streamAndKill(stage, url);

  await say('\n3. What lies on disk');
  await inspectDisk(stage, session);

  await say('\n4. orion list-sessions');
  await stage.processes.run({ args: ['list-sessions', '-C', stage.workspace] });

  await say(
    `\n5. orion recover-session ${session.session_id}\n` +
      '   A new process asks the model to go on. The request quotes the last saved lines; the reply must repeat them,\n' +
      '   which proves where the new text belongs.',
  );
  const receipt = await recover(stage, session);

  await say('\n6. The comparison');
  await compare(stage, receipt);
}

async function startProvider(stage: Stage): Promise<string> {
  const script = join(stage.folder, 'script.json');
  await writeFile(script, JSON.stringify(demoScript(stage.document, stage.documentPath)));
  return await new Promise((resolve, reject) => {
    const provider = stage.processes.start({ args: ['demo-provider', script], onLine: resolve });
    provider.ended.then(() => reject(new BrokenPromise('the model server did not start')), reject);
  });
}

/** Starts the real command and kills it when half of the document has reached the disk. */
async function streamAndKill(stage: Stage, url: string): Promise<SessionListing> {
  const { context, document, processes, workspace } = stage;
  const total = Buffer.byteLength(document.text);
  const options = `--json --base-url ${url} --model scripted`.split(' ');
  const args = ['run', `Write ${DEMO_TARGET}`, '-C', workspace, ...options];
  const writer = processes.start({ args, onLine: () => undefined });
  writer.child.stdin?.end();
  let ended = false;
  void writer.ended.finally(() => {
    ended = true;
  });

  const began = performance.now();
  for (;;) {
    await wait(POLL_MS);
    if ((await savedBytes(workspace)) >= total * KILL_AT) break;
    if (ended) throw new BrokenPromise('the writer ended before it could be killed');
    if (performance.now() - began > STREAM_LIMIT_MS)
      throw new BrokenPromise('half of the document did not arrive in time');
  }
  writer.child.kill('SIGKILL');
  const { signal } = await writer.ended;
  if (signal !== 'SIGKILL') throw new BrokenPromise('the writer ended before it could be killed');
  // The line of progress that the killed process left behind.
  if (context.stderr.isTerminal) void context.stderr.write('\n');
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  await stage.say(
    `\n2. After ${seconds} s: kill -9 ${writer.child.pid}, in the middle of the stream.`,
  );
  return await onlySession(stage);
}

/** How much of the content has reached the disk; a session is made under another name and then renamed. */
async function savedBytes(workspace: string): Promise<number> {
  const sessions = join(workspace, '.orion', 'logs', 'write_sessions');
  const names = await readdir(sessions).catch(() => []);
  const found = await Promise.all(
    names.map((name) => stat(join(sessions, name, 'content.txt')).catch(() => null)),
  );
  return Math.max(0, ...found.map((file) => file?.size ?? 0));
}

/** What a command prints on stdout, and how it ended. */
async function read(
  { processes }: Stage,
  args: readonly string[],
): Promise<Ended & { readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const ended = await processes.run({ args, onLine: (line) => lines.push(line) });
  return { ...ended, lines };
}

async function onlySession(stage: Stage): Promise<SessionListing> {
  const { lines } = await read(stage, ['list-sessions', '--json', '-C', stage.workspace]);
  const { sessions } = JSON.parse(lines.join('\n')) as { sessions: SessionListing[] };
  const [session] = sessions;
  if (session === undefined) throw new BrokenPromise('no write session was left');
  return session;
}

async function inspectDisk(stage: Stage, session: SessionListing): Promise<void> {
  const { document, say, workspace } = stage;
  const whole = Buffer.from(document.text);
  const saved = await readFile(join(session.session_dir, 'content.txt'));
  const share = saved.length / whole.length;
  const isPrefix = whole.subarray(0, saved.length).equals(saved);
  const target = await stat(join(workspace, DEMO_TARGET)).catch(() => null);
  await say(
    `   content.txt: ${plural(session.lines, 'line')}, ${plural(saved.length, 'byte')}, ` +
      `${Math.round(share * 100)} % of the document\n` +
      `   equal to the beginning of the document: ${isPrefix ? 'yes' : 'NO'}\n` +
      `   ${DEMO_TARGET}: ${target === null ? 'does not exist yet; there is never half a file' : 'EXISTS'}`,
  );
  if (share < 0.2 || share > 0.8) throw new BrokenPromise('the process was not killed mid-stream');
  if (!isPrefix) throw new BrokenPromise('what was saved is not the beginning of the document');
  if (target !== null) throw new BrokenPromise('a half-written file stands in the workspace');
}

async function recover(stage: Stage, session: SessionListing): Promise<WriteReceipt> {
  const { session_id: id, lines: savedLines } = session;
  const { exitCode, lines } = await read(stage, [
    'recover-session',
    id,
    '-C',
    stage.workspace,
    '--json',
  ]);
  const result = JSON.parse(lines.at(-1) ?? '{}') as Partial<ResultLine>;
  const receipt = result.receipts?.[0];
  if (exitCode !== EXIT.done || receipt === undefined) {
    throw new BrokenPromise(`the recovery ended with exit code ${exitCode ?? 'none'}`);
  }
  const again = receipt.seams.reduce((sum, seam) => sum + seam.lines_dropped, 0);
  const sent = receipt.lines - savedLines + again;
  await stage.say(
    `   Lines of the document that were sent again: ${formatCount(again)}\n` +
      `   Lines that the second process received: about ${formatCount(sent)} of ${formatCount(receipt.lines)}\n` +
      `   Receipt: ${receiptLine(receipt, null)}`,
  );
  return receipt;
}

async function compare(stage: Stage, receipt: WriteReceipt): Promise<void> {
  const written = await readFile(join(stage.workspace, DEMO_TARGET));
  const expected = sha256(Buffer.from(stage.document.text));
  const actual = sha256(written);
  await stage.say(`   document  sha256 ${expected}\n   file      sha256 ${actual}`);
  if (actual !== expected || receipt.sha256 !== actual) {
    throw new BrokenPromise('the recovered file is not the document');
  }
  await stage.say('   Equal: the killed process cost nothing but a few repeated lines.');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
