/** A7 to A9: turns with tools, as their events and the stored outputs show them. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';

import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Behaviour } from '@orion/llm-adapters/scripted';

import type { PlayedTurn } from './client.ts';
import { Findings, folderOf, messageOf, promptOf, TRACE_STATUS } from './scenario.ts';
import type { Act } from './scenario.ts';

/** Files that turns read. */
export const GIVEN: Readonly<Record<string, string>> = {
  'a.txt': 'the content\n',
  // As JSON twice as long: more than is shown inline.
  'quotes.txt': '"'.repeat(64 * 1024),
};

const TWO_STAGE = '/api/chat/messages_two_stage';

const reads = (path: string, said?: string): Behaviour['reply'] => ({
  ...(said === undefined ? {} : { text: said }),
  toolCalls: [{ name: 'read_file', arguments: { path } }],
});

const resultsOf = ({ events }: PlayedTurn): readonly unknown[] =>
  events.filter(({ type }) => type === 'tool_result').map(({ data }) => data['ok']);

const duplicates: Act = {
  name: 'A7',
  behaviours(round) {
    const history = promptOf('A7', round);
    return [
      { when: { history, system: 'Answer now', tools: false }, reply: { text: 'Answer.\n' } },
      { when: { history, toolResults: 0 }, reply: reads('a.txt', 'Look. ') },
      { when: { history }, reply: reads('./a.txt') },
      {
        when: { history: promptOf('A7 broken', round) },
        reply: { toolCalls: [{ name: 'read_file', arguments: '{"pa' }], finishReason: 'stop' },
      },
    ];
  },
  async play({ client }, round) {
    const findings = new Findings();
    const turn = await client.turn({ projectId: 'P1', ...messageOf('A7', round) }, TWO_STAGE);
    findings.add(turn.failures);
    findings.same('results', resultsOf(turn), [true, false, false, false]);
    const { status, stopReason, fullContent, protocol } = turn.done;
    findings.same(
      'done',
      [status, stopReason, fullContent, protocol],
      ['stopped', 'duplicates', 'Look. Answer.\n', 'two-stage'],
    );
    const unnamed = turn.events.filter(
      ({ data }) =>
        data['requestId'] !== turn.id ||
        data['projectId'] !== 'P1' ||
        typeof data['phaseIndex'] !== 'number' ||
        typeof data['cycleIndex'] !== 'number',
    );
    findings.same('events without their turn', unnamed, []);
    const broken = await client.turn(
      { projectId: 'P1', ...messageOf('A7 broken', round) },
      TWO_STAGE,
    );
    findings.add(broken.failures);
    findings.same('a broken call', broken.done['status'], 'incomplete');
    return findings.all;
  },
};

const planMode: Act = {
  name: 'A8',
  behaviours(round) {
    const history = promptOf('A8', round);
    const begin = {
      intent: 'acceptance',
      target_file: `${folderOf('A8', round)}/a.txt`,
      operation: 'create',
    };
    return [
      { when: { history, toolResults: 2 }, reply: { text: 'ok' } },
      {
        when: { history },
        reply: {
          toolCalls: [
            { name: BEGIN_TOOL_NAME, arguments: begin },
            { name: 'read_file_and_delete', arguments: { path: 'a.txt' } },
          ],
        },
      },
    ];
  },
  async play({ client, workspace }, round) {
    const findings = new Findings();
    const turn = await client.turn({ mode: 'plan', ...messageOf('A8', round) });
    findings.add(turn.failures);
    findings.same('results', resultsOf(turn), [false, false]);
    findings.same('done', [turn.done['status'], turn.done['fullContent']], ['complete', 'ok']);
    const notices = turn.events.flatMap(({ type, data }) =>
      type === 'chunk' && data['source'] === 'notice' ? [String(data['content'])] : [],
    );
    const fit = notices.filter((notice) =>
      /WritePlanTool_begin, read_file_and_delete[^]*ACT mode/u.test(notice),
    );
    findings.same('notices', [notices.length, fit.length], [1, 1]);
    const isThere = await access(join(workspace, folderOf('A8', round))).then(
      () => true,
      () => false,
    );
    findings.same('a folder appeared', isThere, false);
    const trace = await client.ask(`/api/traces?requestId=${turn.id}&limit=1000`);
    findings.oneOf('the trace', trace.status, TRACE_STATUS);
    return findings.all;
  },
};

const QUESTION = { paths: ['$.path', '$.none'], default_value: 'N/A' };
const ANSWER = {
  extracted: { '$.path': ['quotes.txt'], '$.none': 'N/A' },
  missing_paths: ['$.none'],
};

/** An action of a model without tool calls of its own. */
const acts = (action: object): Behaviour['reply'] => ({ text: JSON.stringify(action) });
const steps = (name: string, args: object): Behaviour['reply'] =>
  acts({
    action: 'next_step',
    thinking: { task: 't' },
    step: { tool_name: name, arguments: JSON.stringify(args) },
    question: '',
    context: '',
  });

const storedOutputs: Act = {
  name: 'A9',
  behaviours(round) {
    const history = promptOf('A9', round);
    return [
      {
        when: { history, lastUser: '"missing_paths":["$.none"]' },
        reply: acts({ action: 'complete', message: 'It is quotes.txt.' }),
      },
      {
        when: { history, lastUser: '"persisted":true' },
        reply: steps('tool_outputs.extract', QUESTION),
      },
      { when: { history }, reply: steps('read_file', { path: 'quotes.txt' }) },
      {
        when: { history: promptOf('A9 thinking', round) },
        reply: acts({ action: 'next_step', thinking: { task: 'x' } }),
      },
    ];
  },
  async play({ client }, round) {
    const findings = new Findings();
    const metadata = { protocol: 'controller' };
    const message = messageOf('A9', round);
    const turn = await client.turn({ metadata, ...message });
    findings.add(turn.failures);
    findings.same('results', resultsOf(turn), [true, true]);
    const { status, fullContent } = turn.done;
    findings.same('done', [status, fullContent], ['complete', 'It is quotes.txt.']);
    const scope = `conversation_id=${encodeURIComponent(message.conversationId)}`;
    const listed = await client.ask(`/api/tool-outputs?${scope}`);
    const { outputs = [] } = (listed.json ?? {}) as {
      readonly outputs?: readonly { readonly id: string; readonly tool_name: string }[];
    };
    findings.same(
      'stored',
      outputs.map(({ tool_name: name }) => name),
      ['read_file'],
    );
    const path = `/api/tool-outputs/${outputs[0]?.id}`;
    const answer = await client.ask(`${path}/extract?${scope}`, { json: QUESTION });
    findings.same('extracted', answer.json, ANSWER);
    const thinking = await client.turn({ metadata, ...messageOf('A9 thinking', round) });
    findings.add(thinking.failures);
    findings.same(
      'thinking alone',
      [thinking.done['status'], thinking.done['stopReason']],
      ['error', 'invalid_output'],
    );
    const isNamed = JSON.stringify(thinking.events).includes('CONTROLLER_INVALID_OUTPUT');
    findings.same('its error is named', isNamed, true);
    findings.same('steps of a thought', resultsOf(thinking), []);
    return findings.all;
  },
};

export const TURNS: readonly Act[] = [duplicates, planMode, storedOutputs];
