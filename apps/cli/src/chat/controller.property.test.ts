import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { advance, LEAVE_WITHIN_MS, STARTING } from './controller.ts';
import type { ChatEffect, ChatEvent, ChatState, Waiting } from './controller.ts';
import { readTyped } from './typed-input.ts';

/** Hazard: two turns at once, a prompt that is sent twice or never, a question that nobody answers, no way out. */

/** What a person and the jobs do, without the ids that only a run knows. */
type Act =
  | { readonly do: 'send'; readonly text: string; readonly isStored: boolean }
  | { readonly do: 'beside' | 'stop' | 'leave' | 'recall' | 'end_job' | 'ask' }
  | { readonly do: 'interrupt'; readonly draft: string; readonly after: number }
  /** Of any question so far, the settled ones included. */
  | { readonly do: 'answer' | 'withdraw'; readonly question: number };

const ACT: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send'),
      text: fc.constantFrom('a prompt', '/new', '//x'),
      isStored: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('beside', 'stop', 'recall', 'end_job', 'ask') }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('end_job') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('interrupt'),
      draft: fc.constantFrom('', 'half'),
      after: fc.constantFrom(0, LEAVE_WITHIN_MS, LEAVE_WITHIN_MS + 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('answer', 'withdraw'), question: fc.nat(9) }),
  },
) as fc.Arbitrary<Act>;

/** Everything that became of a run of acts. */
function play(acts: readonly Act[]) {
  let state: ChatState = STARTING;
  let isRunning = true;
  let at = 0;
  const sent: Waiting[] = [];
  const asked: number[] = [];
  const effects: ChatEffect[] = [];
  const states: ChatState[] = [state];

  function happen(event: ChatEvent): void {
    const step = advance(state, event);
    state = step.state;
    for (const effect of step.effects) {
      // C1
      if (effect.type === 'run') {
        expect(isRunning, 'a second job').toBe(false);
        isRunning = true;
      }
      effects.push(effect);
    }
    states.push(state);
  }

  for (const act of acts) {
    switch (act.do) {
      case 'send': {
        const input = readTyped(act.text);
        if (input.kind === 'empty') break;
        const waiting = { key: sent.length, input, storedId: act.isStored ? 'id' : null };
        sent.push(waiting);
        happen({ type: 'sent', waiting });
        break;
      }
      case 'beside': {
        const input = readTyped('/help');
        if (input.kind !== 'empty') {
          happen({ type: 'sent_beside', waiting: { key: -1, input, storedId: null } });
        }
        break;
      }
      case 'interrupt':
        at += act.after;
        happen({ type: 'interrupt', draft: act.draft, at });
        break;
      case 'ask':
        asked.push(asked.length);
        happen({
          type: 'asked',
          question: { kind: 'pick', id: asked.length - 1, text: '', items: [] },
        });
        break;
      case 'answer':
        happen({ type: 'answered', id: act.question, answer: { value: 'y', text: '' } });
        break;
      case 'withdraw':
        happen({ type: 'withdrawn', id: act.question });
        break;
      case 'end_job':
        if (!isRunning) break;
        isRunning = false;
        happen({ type: 'job_ended' });
        break;
      default:
        happen({ type: act.do });
    }
  }
  return {
    state,
    states,
    effects,
    sent,
    asked,
    isRunning,
    happen,
    of: <T extends ChatEffect['type']>(type: T) =>
      effects.filter((effect): effect is Extract<ChatEffect, { type: T }> => effect.type === type),
  };
}

const run = (check: (played: ReturnType<typeof play>) => void): void =>
  fc.assert(
    fc.property(fc.array(ACT, { maxLength: 40 }), (acts) => check(play(acts))),
    { numRuns: 300 },
  );

describe('the controller', () => {
  it('C1, C2: becomes one job at a time, and each prompt one job in its order, unless taken or handed back, or left', () => {
    run(({ sent, state, of }) => {
      const ran = of('run').flatMap(({ job }) => (job.kind === 'typed' ? [job.waited.key] : []));
      expect(ran).toEqual(ran.toSorted((one, other) => one - other));
      expect(new Set(ran).size).toBe(ran.length);
      const back = of('unstore').map(({ waiting }) => waiting.key);
      expect(of('set_draft').filter(({ text }) => text !== '')).toHaveLength(back.length);
      if (state.phase.kind === 'leaving') return;
      const waits = state.waiting.map(({ key }) => key);
      const handed = of('hand_back').flatMap(({ waiting }) => waiting.map(({ key }) => key));
      const all = [...ran, ...back, ...handed, ...waits].toSorted((one, other) => one - other);
      expect(all).toEqual(sent.map(({ key }) => key));
    });
  });

  it('stores what waits and is not stored yet, once, and nothing but prompts', () => {
    run(({ of, sent, states }) => {
      const waited = new Set(states.flatMap(({ waiting }) => waiting.map(({ key }) => key)));
      const unstored = sent.filter(
        ({ key, input, storedId }) =>
          waited.has(key) && input.kind === 'prompt' && storedId === null,
      );
      expect(of('store')).toEqual(unstored.map((waiting) => ({ type: 'store', waiting })));
    });
  });

  it('C3: settles each question once', () => {
    run(({ asked, state, of }) => {
      const settled = of('settle').map(({ id }) => id);
      expect(new Set(settled).size).toBe(settled.length);
      const open = state.questions.map(({ id }) => id);
      expect([...settled, ...open].toSorted((one, other) => one - other)).toEqual(asked);
    });
  });

  it('C4: ends from any state by Ctrl-C: the fourth has left at the latest, whatever else happens', () => {
    run((played) => {
      for (let time = 0; time < 4; time += 1) {
        played.happen({ type: 'interrupt', draft: '', at: 1e9 });
      }
      expect(played.of('leave')).toHaveLength(1);
      played.happen({ type: 'interrupt', draft: 'x', at: 2e9 });
      expect(played.effects.at(-1)).toEqual({ type: 'exit' });
    });
  });

  it('C5: starts nothing once it leaves, and leaves once', () => {
    run(({ states, effects, of }) => {
      const left = states.findIndex(({ phase }) => phase.kind === 'leaving');
      if (left === -1) {
        expect(of('leave')).toEqual([]);
        return;
      }
      expect(of('leave')).toHaveLength(1);
      for (const { questions, waiting } of states.slice(left)) {
        expect([questions, waiting]).toEqual([[], []]);
      }
      expect(states.slice(left).every(({ phase }) => phase.kind === 'leaving')).toBe(true);
      const after = effects.slice(effects.findIndex(({ type }) => type === 'leave') + 1);
      for (const { type } of after) expect(['settle', 'exit']).toContain(type);
    });
  });
});

describe('stopping', () => {
  const idle = advance(STARTING, { type: 'job_ended' }).state;
  const waiting: Waiting = {
    key: 1,
    input: { kind: 'prompt', typed: 'a', text: 'a' },
    storedId: null,
  };
  const working = advance(idle, { type: 'sent', waiting }).state;
  const types = (effects: readonly ChatEffect[]): readonly string[] =>
    effects.map(({ type }) => type);

  it('settles without an answer what is open when the person leaves, or is asked after that', () => {
    const question = { kind: 'pick', id: 7, text: '?', items: [] } as const;
    const asked = advance(working, { type: 'asked', question });
    expect(asked.effects).toEqual([]);
    const settled = { type: 'settle', id: 7, answer: null };
    expect(advance(asked.state, { type: 'leave' }).effects).toContainEqual(settled);
    const left = advance(working, { type: 'leave' }).state;
    expect(advance(left, { type: 'asked', question }).effects).toEqual([settled]);
    const answer = { value: 'y', text: '' };
    expect(advance(asked.state, { type: 'answered', id: 7, answer }).effects).toEqual([
      { ...settled, answer },
    ]);
  });

  it('runs a command beside whatever runs, until the person leaves', () => {
    expect(advance(working, { type: 'sent_beside', waiting }).effects).toEqual([
      { type: 'run_beside', waiting },
    ]);
    const left = advance(working, { type: 'leave' }).state;
    expect(advance(left, { type: 'sent_beside', waiting }).effects).toEqual([]);
  });

  it('Esc cancels a job once, and never leaves', () => {
    const first = advance(working, { type: 'stop' });
    expect(types(first.effects)).toEqual(['say', 'cancel']);
    expect(advance(first.state, { type: 'stop' }).effects).toEqual([]);
    expect(advance(idle, { type: 'stop' }).effects).toEqual([]);
  });

  it.each(['stop', 'interrupt'] as const)(
    '%s hands back what waits, and sends none of it',
    (type) => {
      const stop: ChatEvent = type === 'stop' ? { type } : { type, draft: '', at: 0 };
      const [second, third, late] = [2, 3, 4].map((key): Waiting => ({ ...waiting, key }));
      let { state } = advance(working, { type: 'sent', waiting: second! });
      ({ state } = advance(state, { type: 'sent', waiting: third! }));
      const stopped = advance(state, stop);
      expect(types(stopped.effects)).toEqual(['say', 'cancel', 'hand_back']);
      expect(stopped.effects.at(-1)).toEqual({ type: 'hand_back', waiting: [second, third] });
      const ended = advance(stopped.state, { type: 'job_ended' });
      expect(ended).toEqual({ state: idle, effects: [] });
      // What was sent after the stop is sent, unless Esc takes this back too.
      ({ state } = advance(stopped.state, { type: 'sent', waiting: late! }));
      expect(types(advance(state, { type: 'job_ended' }).effects)).toEqual(['run']);
      expect(advance(state, { type: 'stop' }).effects).toEqual([
        { type: 'hand_back', waiting: [late] },
      ]);
    },
  );

  it('Ctrl-C cancels, then leaves in order, then at once', () => {
    const first = advance(working, { type: 'interrupt', draft: 'kept', at: 0 });
    expect(types(first.effects)).toEqual(['say', 'cancel']);
    const second = advance(first.state, { type: 'interrupt', draft: '', at: 1 });
    expect(types(second.effects)).toEqual(['say', 'cancel', 'leave']);
    expect(types(advance(second.state, { type: 'interrupt', draft: '', at: 2 }).effects)).toEqual([
      'exit',
    ]);
  });

  it('Ctrl-C on an empty line leaves only when it comes twice within two seconds', () => {
    const once = advance(idle, { type: 'interrupt', draft: '', at: 100 });
    expect(once.effects).toEqual([{ type: 'say', what: 'again_to_leave' }]);
    const late = advance(once.state, { type: 'interrupt', draft: '', at: 101 + LEAVE_WITHIN_MS });
    expect(late.effects).toEqual([{ type: 'say', what: 'again_to_leave' }]);
    const soon = advance(once.state, { type: 'interrupt', draft: '', at: 100 + LEAVE_WITHIN_MS });
    expect(types(soon.effects)).toEqual(['cancel', 'leave']);
    // What was done in between makes it a first one again.
    const between = advance(once.state, { type: 'interrupt', draft: 'x', at: 101 });
    expect(between.state).toEqual(idle);
    expect(between.effects).toEqual([
      { type: 'remember', text: 'x' },
      { type: 'set_draft', text: '' },
    ]);
    expect(
      types(advance(between.state, { type: 'interrupt', draft: '', at: 102 }).effects),
    ).toEqual(['say']);
  });
});
