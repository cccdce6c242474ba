/** Many turns at once, each of which writes a file of its own. */
import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Behaviour, Shape } from '@orion/llm-adapters/scripted';

import type { Story } from '../served-turns/stories.ts';

export type Task = {
  readonly prompt: string;
  readonly conversationId: string;
  readonly story: Story;
};

/** A turn takes some seconds, so that whatever happens finds all of them under way. */
const FLOW: Shape = { chunk: { min: 20, max: 40 }, eventsPerSecond: 30 };
const LINES = 400;

const BEGINNING = 'Now I write the file. ';
const DONE = 'The file is in its place.';

/** The tasks, and one story of all of them together for the provider and the files. */
export function makeTasks(
  count: number,
  lines = LINES,
): {
  readonly tasks: readonly Task[];
  readonly whole: Story;
} {
  const numbers = Array.from({ length: count }, (_, index) => String(index + 1).padStart(3, '0'));
  const behaviours: Behaviour[] = [];
  const tasks = numbers.map((number): Task => {
    const prompt = `Do task ${number}.`;
    const target = `notes/${number}.md`;
    const text = Array.from({ length: lines }, (_, line) => `Line ${line + 1} of ${number}\n`).join(
      '',
    );
    const history = { contains: prompt };
    behaviours.push(
      {
        when: { history, toolResults: 1, toolChoice: 'none' },
        reply: { document: { target, content: { kind: 'text', text } } },
      },
      {
        when: { history, toolResults: 0, toolChoice: 'auto' },
        reply: {
          text: BEGINNING,
          toolCalls: [
            {
              name: BEGIN_TOOL_NAME,
              arguments: { intent: prompt, target_file: target, operation: 'create' },
            },
          ],
        },
      },
      { when: { history }, reply: { text: DONE } },
    );
    const story = {
      name: prompt,
      script: { behaviours: [] },
      before: {},
      after: { [target]: text },
      says: BEGINNING + DONE,
    };
    return { prompt, conversationId: `conversation-${number}`, story };
  });
  const after = Object.assign({}, ...tasks.map(({ story }) => story.after)) as Story['after'];
  const script = { shape: FLOW, behaviours };
  return { tasks, whole: { name: 'all tasks', script, before: {}, after, says: '' } };
}
