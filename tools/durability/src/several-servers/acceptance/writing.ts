/** A1 to A3 and A6: what the model streams is the file, byte for byte. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';

import type { DocumentReply } from '@orion/llm-adapters/scripted';

import { sha256 } from './client.ts';
import type { Client } from './client.ts';
import {
  factsOf,
  Findings,
  folderOf,
  judgeWritten,
  messageOf,
  numbered,
  promptOf,
  text,
  TRACE_STATUS,
  writes,
} from './scenario.ts';
import type { Act, Scene } from './scenario.ts';

const LINES = {
  bytes: 2052,
  sha256: 'c7632900127f200879a7466edccfc60ed8333efc1c4c8dd917d21aa8e9359127',
};
const STEPS = 'Steps:\nDONE\nnot finished\n';
const STEPS_SHA = '087cac30411fe242b8803dfb403fd5cd60d2b3dec698d3c20547ace7cce5b6bf';
const NEAR_MISSES = 'a\nDONENESS\n done\ndone\n';

/** Answers nothing, whatever it is asked about the end. */
const SILENT: Pick<DocumentReply, 'endMarker' | 'answers' | 'continuations'> = {
  endMarker: 'none',
  answers: { empty: '', ambiguous: '', nearMiss: '' },
  continuations: [{ variant: 'ignore', text: '' }],
};

const largeFile: Act = {
  name: 'A1',
  behaviours: (round) =>
    writes(
      promptOf('A1', round),
      { target: `${folderOf('A1', round)}/n.txt`, content: text(numbered('line', 1, 240)) },
      // 2052 characters, and the marker as D, ON, E.
      { chunk: [...Array<number>(293).fill(7), 1, 1, 2, 1], eventsPerSecond: 60 },
    ),
  async play(scene, round) {
    const { client } = scene;
    const findings = new Findings();
    const target = `${folderOf('A1', round)}/n.txt`;
    const turn = await client.turn(messageOf('A1', round));
    const receipt = await judgeWritten(findings, scene, turn, target, LINES);
    const summary = receipt['validation_summary'] as Record<string, unknown> | undefined;
    findings.same('lines', receipt['lines'], 240);
    findings.same('replaced', summary?.['used_safe_replacement'], false);
    const trace = await client.ask(`/api/traces?requestId=${turn.id}&limit=1000`);
    findings.oneOf('the trace', trace.status, TRACE_STATUS);
    for (const kept of [trace.text, JSON.stringify(turn.events)])
      findings.same('the text is elsewhere', kept.includes('line 120'), false);
    findings.same('a session is left', await sessionOf(client, target), null);
    const id = await client.begin(target, 'overwrite');
    findings.same('discard', (await discard(client, id)).status, 200);
    return findings.all;
  },
};

const exactBytes: Act = {
  name: 'A2',
  behaviours(round) {
    const folder = folderOf('A2', round);
    return [
      ...writes(
        promptOf('A2 CRLF', round),
        { target: `${folder}/two.txt`, content: text('one\r\ntwo\r\n'), endMarker: 'DONE \t' },
        { chunk: [4, 8, 4], eventsPerSecond: 4 },
      ),
      ...writes(promptOf('A2 fence', round), {
        target: `${folder}/a.py`,
        content: text('x = 1\n'),
        fence: 'python',
      }),
      ...writes(promptOf('A2 near', round), {
        target: `${folder}/b.txt`,
        content: text(NEAR_MISSES),
        ...SILENT,
      }),
    ];
  },
  async play(scene, round) {
    const { client } = scene;
    const findings = new Findings();
    const folder = folderOf('A2', round);
    const crlf = Buffer.from('6f6e650d0a74776f0d0a', 'hex');
    const one = await client.turn(messageOf('A2 CRLF', round));
    await judgeWritten(findings, scene, one, `${folder}/two.txt`, factsOf(crlf));
    const two = await client.turn(messageOf('A2 fence', round));
    const receipt = await judgeWritten(findings, scene, two, `${folder}/a.py`, factsOf('x = 1\n'));
    findings.same('fence_stripped', receipt['fence_stripped'], true);
    await judgePaused(findings, scene, 'A2 near', round, `${folder}/b.txt`, NEAR_MISSES);
    return findings.all;
  },
};

const doneInside: Act = {
  name: 'A3',
  behaviours(round) {
    const target = `${folderOf('A3', round)}/steps.txt`;
    const other = `${folderOf('A3', round)}/silent.txt`;
    return [
      ...writes(promptOf('A3', round), {
        target,
        content: text(STEPS),
        endMarker: 'none',
        answers: { ambiguous: 'DONE' },
      }),
      ...writes(promptOf('A3 silent', round), { target: other, content: text(STEPS), ...SILENT }),
    ];
  },
  async play(scene, round) {
    const findings = new Findings();
    const folder = folderOf('A3', round);
    const turn = await scene.client.turn(messageOf('A3', round));
    const wanted = { bytes: 25, sha256: STEPS_SHA };
    const receipt = await judgeWritten(findings, scene, turn, `${folder}/steps.txt`, wanted);
    findings.same('inner DONE', receipt['inner_done_lines'], [2]);
    await judgePaused(findings, scene, 'A3 silent', round, `${folder}/silent.txt`, STEPS);
    return findings.all;
  },
};

const HALF = 'A\uD83DB\n';
const CORRECTED = [
  { part: 'A6 sorry', says: 'sorry', hex: '41efbfbd420a', attempts: 3, replaced: true },
  { part: 'A6 dash', says: '#1: -', hex: '412d420a', attempts: 1, replaced: false },
] as const;

const repair: Act = {
  name: 'A6',
  behaviours(round) {
    const folder = folderOf('A6', round);
    const shape = { splitSurrogates: true, eventsPerSecond: 10 };
    return [
      ...CORRECTED.flatMap(({ part, says }) => {
        const history = promptOf(part, round);
        const target = `${folder}/${part.slice(3)}.txt`;
        return [
          {
            when: { history, lastUser: 'not valid text', toolChoice: 'none' as const },
            reply: { text: says },
          },
          ...writes(history, { target, content: text(HALF) }, { ...shape, chunk: [1, 1, 2, 4] }),
        ];
      }),
      ...writes(
        promptOf('A6 pair', round),
        { target: `${folder}/pair.txt`, content: text('\u{1F600}\n') },
        { ...shape, chunk: [1, 1, 5] },
      ),
    ];
  },
  async play(scene, round) {
    const { client } = scene;
    const findings = new Findings();
    const folder = folderOf('A6', round);
    for (const { part, hex, attempts, replaced } of CORRECTED) {
      const target = `${folder}/${part.slice(3)}.txt`;
      const turn = await client.turn(messageOf(part, round));
      const wanted = factsOf(Buffer.from(hex, 'hex'));
      const receipt = await judgeWritten(findings, scene, turn, target, wanted);
      const summary = receipt['validation_summary'] as Record<string, unknown> | undefined;
      findings.same(`${part} attempts`, summary?.['attempts'], attempts);
      findings.same(`${part} replaced`, summary?.['used_safe_replacement'], replaced);
    }
    const pair = await client.turn(messageOf('A6 pair', round));
    const receipt = await judgeWritten(
      findings,
      scene,
      pair,
      `${folder}/pair.txt`,
      factsOf(Buffer.from('f09f98800a', 'hex')),
    );
    const summary = receipt['validation_summary'] as Record<string, unknown> | undefined;
    findings.same('a pair is corrected', summary?.['invalid_found'], 0);
    return findings.all;
  },
};

export const WRITING: readonly Act[] = [largeFile, exactBytes, doneInside, repair];

/** A turn whose model never ends its text: nothing is written, and what has arrived is kept. */
async function judgePaused(
  findings: Findings,
  { client, workspace }: Scene,
  part: string,
  round: number,
  target: string,
  wanted: string,
): Promise<void> {
  const turn = await client.turn(messageOf(part, round));
  findings.add(turn.failures);
  findings.same(`${part} ended`, turn.done['status'], 'paused');
  const isThere = await access(join(workspace, target)).then(
    () => true,
    () => false,
  );
  findings.same(`${part} is written`, isThere, false);
  const id = await sessionOf(client, target);
  const kept = await client.ask(`/api/write-sessions/${id}/content`);
  findings.same(`${part} keeps`, sha256(kept.text), sha256(wanted));
  findings.same(`${part} is put aside`, (await discard(client, id ?? '')).status, 200);
}

/** The id of the session on a file; null if there is none. */
async function sessionOf(client: Client, target: string): Promise<string | null> {
  const { json } = await client.ask('/api/write-sessions?limit=1000');
  const { sessions } = json as {
    readonly sessions: readonly { readonly session_id: string; readonly target_file: string }[];
  };
  return sessions.find(({ target_file: file }) => file === target)?.session_id ?? null;
}

function discard(client: Client, id: string): ReturnType<Client['ask']> {
  return client.ask(`/api/write-sessions/${id}`, { method: 'DELETE' });
}
