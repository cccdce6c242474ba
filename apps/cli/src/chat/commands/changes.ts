import { defined, OrionError, toErrorInfo } from '@orion/contracts';
import type { RecordedChange } from '@orion/contracts';

import { foldDiff } from '../../approvals/fold-diff.ts';
import { toned } from '../../approvals/review-changes.ts';
import { statusOf, undoneLine } from '../../commands/undo.ts';
import { usage } from '../../command-line/usage.ts';
import { diffLines } from '../../terminal/diff-text.ts';
import { formatAge, formatCount, plural } from '../../terminal/format.ts';
import { choice } from '../asking.ts';
import { inChatWords } from '../chat-words.ts';
import type { Completion } from '../face.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';
import { table } from './command.ts';

/** Of the newest changes the diffs are shown, each folded above so many lines. */
const SHOWN_CHANGES = 5;
const SHOWN_LINES = 40;
/** Of the newest changes the ids are offered. */
const OFFERED_CHANGES = 200;

const undo: ChatCommand = {
  name: 'undo',
  argument: '[id]',
  summary: 'takes the last change back, or the one that is named',
  beside: false,
  async run(tools, argument, signal) {
    const { orion } = tools;
    // A change that a kill kept from happening has a record all the same, and is not the latest one.
    await orion.housekeep();
    const request = defined({ id: argument === '' ? undefined : argument });
    const report = await orion.undo(request).catch(async (error: unknown) => {
      if (!OrionError.isInstance(error) || error.code !== 'TARGET_CHANGED') throw error;
      const { message } = inChatWords(toErrorInfo(error));
      const text = `${message} Undo it anyway? What was edited is kept, too.`;
      const choices = [choice('(y)es'), choice('(n)o')];
      const answer = await tools.ask({ kind: 'choice', text, choices, preset: 'n' }, signal);
      if (answer?.value !== 'y') return null;
      // Another process may have made a later one while it was asked. What was named may be one file of a change.
      const { change_id: latest } = error.details;
      const asked = typeof latest === 'string' ? { id: latest } : {};
      return orion.undo({ ...asked, ...request, force: true });
    });
    if (report === null) return;
    for (const file of report.files) tools.line(undoneLine(file), 'success');
    if (report.undo_id !== undefined)
      tools.line(`/undo ${report.undo_id} brings it back.`, 'faint');
  },
  complete: completeChange,
};

async function completeChange({ orion }: ChatTools): Promise<Completion['items']> {
  const items: Completion['items'][number][] = [];
  for await (const change of orion.changes()) {
    items.push({ value: change.change_id, label: change.change_id, detail: filesOf(change) });
    if (items.length === OFFERED_CHANGES) break;
  }
  return items;
}

const changes: ChatCommand = {
  name: 'changes',
  argument: '[id]',
  summary: 'changes of this conversation, with diffs; with an id all of one',
  beside: true,
  async run(tools, id) {
    if (id !== '') {
      await showDiffs(tools, id, Infinity);
      return;
    }
    const now = Date.now();
    const own = await changesOfConversation(tools);
    if (own.length === 0) {
      tools.line('This conversation has changed no file.');
      return;
    }
    table(
      tools,
      own.map((change) => [
        change.change_id,
        `${formatAge(now - Date.parse(change.created_at))} ago`,
        statusOf(change),
        filesOf(change),
      ]),
    );
    for (const { change_id } of own.slice(0, SHOWN_CHANGES)) {
      await showDiffs(tools, change_id, SHOWN_LINES);
    }
  },
  complete: completeChange,
};

/** Shows what a change did to each file; of a long diff its ends. */
async function showDiffs(tools: ChatTools, id: string, limit: number): Promise<void> {
  for (const { target_file, diff } of await tools.orion.diffChange(id)) {
    if (diff === null) {
      tools.line(`${id} ${target_file}: its bytes are gone.`, 'warning');
      continue;
    }
    const { head, leftOut, tail, added, removed } = await foldDiff(diffLines(diff, false), limit);
    const counts = `+${formatCount(added)} −${formatCount(removed)}`;
    tools.line(`${id} ${target_file}  ${counts}`, 'faint');
    tools.face.print({ kind: 'verbatim', lines: head.map(toned) });
    if (leftOut === 0) continue;
    tools.line(`… ${plural(leftOut, 'line')} left out: /changes ${id} shows all of them`, 'faint');
    tools.face.print({ kind: 'verbatim', lines: tail.map(toned) });
  }
}

const save: ChatCommand = {
  name: 'save',
  argument: '<file>',
  summary: 'the last answer to a file',
  beside: false,
  async run(tools, file, signal) {
    const { lastAnswer } = tools.turns.facts;
    if (file === '') throw usage('A file is missing.', 'Name it after /save.');
    if (lastAnswer === '') throw usage('There is no answer to save yet.', 'Ask something first.');
    const text = lastAnswer.endsWith('\n') ? lastAnswer : `${lastAnswer}\n`;
    const apply = (type: 'create' | 'overwrite') =>
      tools.orion.applyPlan(
        {
          intent: 'save an answer',
          operations: [{ type, target_file: file, content: text }],
        },
        { approve: tools.turns.approve(), signal },
      );
    let report = await apply('create');
    if (report.results[0]?.error?.code === 'FILE_EXISTS') {
      const choices = [choice('(y)es'), choice('(n)o')];
      const question = `${file} exists. Overwrite it? Its current version is kept.`;
      const answer = await tools.ask(
        { kind: 'choice', text: question, choices, preset: 'n' },
        signal,
      );
      if (answer?.value !== 'y') return;
      report = await apply('overwrite');
    }
    const [result] = report.results;
    if (result !== undefined && result.error !== null) {
      const { code, message, hint } = inChatWords(result.error);
      tools.line(`${code}: ${message}`, 'error');
      if (hint !== undefined) tools.line(`  ${hint}`, 'error');
      return;
    }
    for (const { target_file, bytes, lines, sha256 } of report.receipts) {
      const size = `${plural(lines, 'line')}, ${plural(bytes, 'byte')}`;
      tools.line(
        `Saved ${target_file}: ${size}, sha256 ${sha256.slice(0, 12)}. /undo takes it back.`,
        'success',
      );
    }
  },
};

export const changeCommands: readonly ChatCommand[] = [undo, changes, save];

function filesOf({ files }: RecordedChange): string {
  return files.map((file) => `${file.operation} ${file.target_file}`).join(', ');
}

/** Those of its turns in this run of the command, and those that its stored receipts name. */
async function changesOfConversation({
  orion,
  turns,
}: ChatTools): Promise<readonly RecordedChange[]> {
  const { conversationId, facts } = turns;
  const stored =
    conversationId === null ? null : await orion.store.conversations.load(conversationId);
  const named = (stored?.history ?? []).flatMap((message) =>
    message.role === 'tool' ? backupsIn(message.content) : [],
  );
  // What is not found yet, so that no older change is read than this conversation has made.
  const backups = new Set([...facts.backups, ...named]);
  const own: RecordedChange[] = [];
  if (backups.size === 0) return own;
  for await (const change of orion.changes()) {
    const isOwn = change.files.filter(({ backup_id }) => backups.delete(backup_id)).length > 0;
    if (isOwn) own.push(change);
    if (backups.size === 0) break;
  }
  return own;
}

function backupsIn(receipt: string): readonly string[] {
  const found = /"backup_id":"(?<id>[^"]+)"/u.exec(receipt)?.groups?.['id'];
  return found === undefined ? [] : [found];
}
