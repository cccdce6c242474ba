/** A4, A5 and A10: files that a client writes itself, by sessions and plans. */
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { codeOf } from '@orion/testkit/http';
import type { HttpAnswer } from '@orion/testkit/http';

import { AGAIN_MS, LATER, sha256 } from './client.ts';
import type { Client } from './client.ts';
import {
  factsOf,
  Findings,
  folderOf,
  judgeFile,
  judgeWritten,
  messageOf,
  numbered,
  promptOf,
  text,
  writes,
} from './scenario.ts';
import type { Act } from './scenario.ts';

const ROWS = numbered('row', 1, 60, 2);
const ROWS_FACTS = {
  bytes: 420,
  sha256: 'f333715b158f6dca8effbd05b021f385d0e3c2ed76f1a23b750b385421841571',
};
const HALF_SHA = 'd306b0c6f46fd30c1552d63132ba516f09496f26f6649f6ef1171e4f2db21cdb';
const HALF_BYTES = 210;

/** Rows that are written across a kill: by a client that sends the second half after it, and by a model. */
const recovery: Act = {
  name: 'A4',
  behaviours: (round) =>
    writes(
      promptOf('A4', round),
      { target: `${folderOf('A4', round)}/model.txt`, content: text(ROWS) },
      { chunk: 7, eventsPerSecond: 6 },
    ),
  async play(scene, round) {
    const { client, workspace, nextKill } = scene;
    const findings = new Findings();
    const target = `${folderOf('A4', round)}/rows.txt`;
    const turning = client.turn(messageOf('A4', round));
    const id = await client.begin(target);
    const rows = Buffer.from(ROWS);
    await client.upload(id, rows.subarray(0, HALF_BYTES), 5);
    await nextKill();
    findings.same('the session after a begin with its key', await client.begin(target), id);
    const { json } = await client.ask(`/api/write-sessions/${id}`);
    const { bytes, lines } = json as { readonly bytes: number; readonly lines: number };
    findings.same('what is saved', { bytes, lines }, { bytes: HALF_BYTES, lines: 30 });
    const saved = await client.ask(`/api/write-sessions/${id}/content`);
    findings.same('what is saved', sha256(saved.text), HALF_SHA);
    await client.upload(id, rows, 5);
    for (const again of [false, true]) {
      const { status, json: written } = await client.finalize(id, rows.length);
      const { sha256: hash } = (written ?? {}) as { readonly sha256?: string };
      findings.same(
        `finalize ${again}`,
        { status, hash },
        { status: 200, hash: ROWS_FACTS.sha256 },
      );
    }
    await judgeFile(findings, workspace, target, ROWS_FACTS);
    await judgeWritten(
      findings,
      scene,
      await turning,
      `${folderOf('A4', round)}/model.txt`,
      ROWS_FACTS,
    );
    return findings.all;
  },
};

const LINES = ['first\n', 'second\n', 'third\n'].map((line) => Buffer.from(line));

/** A file belongs to one session, and after a kill exactly one of two recoveries writes it. */
const ownership: Act = {
  name: 'A5',
  behaviours: () => [],
  async play({ client, workspace, nextKill }, round) {
    const findings = new Findings();
    const target = `${folderOf('A5', round)}/a.txt`;
    const id = await client.begin(target);
    const all = Buffer.concat(LINES);
    await client.upload(id, all.subarray(0, 13));
    await client.upload(id, all);
    const json = { intent: 'another', target_file: target, operation: 'create' };
    const locked = await client.ask('/api/write-sessions', { json, isPatient: false });
    findings.same('another session', codeOf(locked.json), 'TARGET_LOCKED');
    await nextKill();
    const recover = (): Promise<HttpAnswer> =>
      client.ask(`/api/write-sessions/${id}/recover`, {
        json: { finalize: true },
        isPatient: false,
      });
    const answers = await Promise.all([recover(), recover()]);
    const told = answers.map(({ status, json: answer }) =>
      status === 200 ? (answer as { readonly sha256?: string }).sha256 : codeOf(answer),
    );
    // Busy while the other one writes, and gone once it has written.
    const allowed = [sha256(all), 'SESSION_BUSY', 'SESSION_NOT_FOUND'];
    const fit = told.filter((each) => allowed.includes(String(each)));
    findings.same('two recoveries', fit, told);
    const { status, json: written } = await client.finalize(id, all.length);
    findings.same(
      'finalize',
      [status, (written as { sha256?: string }).sha256],
      [200, sha256(all)],
    );
    await judgeFile(findings, workspace, target, factsOf(all));
    return findings.all;
  },
};

const HELPERS = 'module.exports = {};\n';
const FIFTEEN = numbered('// added', 1, 15);

/** Plans have no keys: one whose answer is lost is sent again with the hash of its preview. */
const plans: Act = {
  name: 'A10',
  behaviours: () => [],
  async play({ client, workspace }, round) {
    const findings = new Findings();
    const folder = folderOf('A10', round);
    await mkdir(join(workspace, folder), { recursive: true });
    const file = (name: string): string => join(workspace, folder, name);
    const target = `${folder}/helpers.js`;
    await writeFile(file('helpers.js'), HELPERS);
    const add = {
      plan: {
        intent: 'add',
        target_file: target,
        operations: [{ type: 'append', content_block: FIFTEEN }],
        safety_checks: { backup_required: true, must_exist: true },
      },
    };
    let before = HELPERS;
    for (const backup of ['helpers.js.bak', 'helpers.js.bak.1']) {
      const said = await apply(client, add);
      const wanted = `Appended 15 lines to \`${target}\`. Backup saved to \`${folder}/${backup}\`.`;
      if (said !== STALE) findings.same('the report', said, wanted);
      await judgeFile(findings, workspace, `${folder}/${backup}`, factsOf(before));
      before += FIFTEEN;
      await judgeFile(findings, workspace, target, factsOf(before));
    }
    await writeFile(file('b.txt'), 'two\nx\ntwo\n');
    const twice = {
      intent: 'both',
      operations: [
        { type: 'append', target_file: target, content: 'more\n' },
        {
          type: 'insert',
          target_file: `${folder}/b.txt`,
          location_marker: 'two',
          position: 'after',
          content: 'x\n',
        },
      ],
    };
    findings.same('a marker found twice', await refusalOf(client, twice), ['MARKER_NOT_UNIQUE']);
    await judgeFile(findings, workspace, target, factsOf(before));
    await judgeFile(findings, workspace, `${folder}/b.txt`, factsOf('two\nx\ntwo\n'));
    await writeFile(file('x.txt'), 'aXb');
    const all = { type: 'replace_all', target_file: `${folder}/x.txt`, find: 'X', content: '[$&]' };
    await apply(client, { intent: 'i', operations: [all] });
    findings.same('replace_all', await readFile(file('x.txt'), 'utf8'), 'a[$&]b');
    const out = { type: 'create', target_file: '../x', content: '' };
    const refused = await refusalOf(client, { intent: 'out', operations: [out] });
    findings.same('outside', refused, ['INVALID_TARGET']);
    const isOut = await access(join(workspace, '..', 'x')).then(
      () => true,
      () => false,
    );
    findings.same('outside is written', isOut, false);
    return findings.all;
  },
};

export const UPLOADS: readonly Act[] = [recovery, ownership, plans];

type Report = {
  readonly status: string;
  readonly text: string;
  readonly results: readonly { readonly error: { readonly code: string } | null }[];
};

/** It was applied before, by a request whose answer was lost. */
const STALE = 'APPROVAL_STALE';

/** @returns the report's text */
async function apply(client: Client, plan: object): Promise<string> {
  for (;;) {
    const preview = await client.ask('/api/plans/preview', { json: { plan } });
    const { previewHash } = (preview.json ?? {}) as { readonly previewHash?: string | null };
    const {
      status,
      text: said,
      json,
    } = await client.ask('/api/plans/apply', { json: { plan, previewHash } });
    if (codeOf(json) === STALE) return STALE;
    if (status !== 200) throw new Error(`apply: ${status} ${said}`);
    const report = json as Report;
    if (!report.results.some(({ error }) => LATER.has(error?.code ?? ''))) return report.text;
    await wait(AGAIN_MS);
  }
}

async function refusalOf(client: Client, plan: object): Promise<readonly string[]> {
  const { json } = await client.ask('/api/plans/preview', { json: { plan } });
  const { report } = json as { readonly report: Report };
  return report.results.flatMap(({ error }) => error?.code ?? []);
}
