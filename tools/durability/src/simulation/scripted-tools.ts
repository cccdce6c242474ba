import { sleep } from '@orion/contracts';
import type { Clock, Tool } from '@orion/contracts';

import type { ScriptedCall } from './scripted-model.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { World } from './world.ts';

/** `hang` heeds nobody who wants it to end. */
const TOOL_MS: Readonly<Record<Exclude<ScriptedCall, 'write'>, number>> = {
  look: 150,
  act: 900,
  ask: 300,
  hang: 40_000,
};

/**
 * What tools have done outside of the store, in the whole run.
 *
 * 1. A call that is not read-only begins once, whoever owns its turn.
 * 2. A call that needs a yes begins only with it.
 *
 * A store that went back has forgotten what had begun, and what was decided: then neither holds.
 */
export class Effects {
  readonly #world: World;
  readonly #database: SharedDatabase;
  readonly #begun = new Set<string>();

  constructor(world: World, database: SharedDatabase) {
    this.#world = world;
    this.#database = database;
  }

  begin(tool: ScriptedCall, turnId: string, callId: string): void {
    this.#world.note(`${tool} ${callId}`);
    if (tool === 'look') return;
    if (this.hasBegun(turnId, callId) && this.#database.timeline === 0)
      this.#world.fail(`the call ${callId} ran twice`);
    this.#begun.add(`${turnId} ${callId}`);
    if (tool !== 'ask' || this.#database.timeline > 0) return;
    const [found] = this.#database.rows(
      `select state from approval where turn_id = $1 and call_id = $2 and state <> 'withdrawn'`,
      turnId,
      callId,
    );
    if (found?.['state'] !== 'yes') this.#world.fail(`the call ${callId} ran without a yes`);
  }

  hasBegun(turnId: string, callId: string): boolean {
    return this.#begun.has(`${turnId} ${callId}`);
  }
}

export function scriptedTools(clock: Clock, effects: Effects): readonly Tool[] {
  return (['look', 'act', 'ask', 'hang'] as const).map((name): Tool => ({
    definition: {
      name,
      description: name,
      parameters: { type: 'object', properties: { step: { type: 'integer' } } },
    },
    effect: name === 'look' ? 'read' : 'write',
    ...(name === 'ask'
      ? {
          action: ({ step }) => ({
            kind: 'command',
            command: `ask ${JSON.stringify(step)}`,
            folder: '/simulated',
          }),
        }
      : {}),
    async execute(_, { requestId, toolCallId, signal }) {
      effects.begin(name, requestId, toolCallId);
      await sleep(clock, TOOL_MS[name], ...(name === 'hang' ? [] : [signal]));
      return { result: name };
    },
  }));
}
