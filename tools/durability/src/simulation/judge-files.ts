import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { fileOf, fileText } from './scripted-model.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { EndedTurn } from './taken-turn.ts';
import type { World } from './world.ts';

/** What the turns that are complete have written: each file has its bytes, was decided, and has one receipt. */
export function judgeFiles(
  world: World,
  {
    folder,
    database,
    turns,
  }: {
    readonly folder: string;
    readonly database: SharedDatabase;
    readonly turns: readonly EndedTurn[];
  },
): void {
  for (const { script, turnId } of turns) {
    const [turn] = database.rows('select status from turn where turn_id = $1', turnId);
    if (turn?.['status'] !== 'complete') continue;
    for (const [step, call] of script.calls.entries()) {
      if (call !== 'write') continue;
      const file = fileOf(script, step);
      const text = fileText(script, step);
      const found = readOrNull(join(folder, 'volume', file));
      if (found !== text)
        world.fail(`${file} ${found === null ? 'is missing' : 'has another text'}`);
      // A store that went back may know nothing of it, and its next owner finds the file.
      if (database.timeline > 0) continue;
      const decided = database.rows(
        'select 1 from simulated_decision where path = $1 and after_sha256 = $2',
        file,
        createHash('sha256').update(text).digest('hex'),
      );
      if (decided.length === 0) world.fail(`${file} was written without a decision`);
      const receipts = database.rows(
        `select 1 from turn join turn_event on turn_event.turn_no = turn.turn_no
         where turn_id = $1 and kind = 'write_session' and json_extract(data, '$.receipt.target_file') = $2`,
        turnId,
        file,
      );
      if (receipts.length !== 1) world.fail(`${file} has ${receipts.length} receipts`);
    }
    const left = database.rows(
      'select 1 from write_session where turn_id = $1 and metadata is not null and put_away_at is null',
      turnId,
    );
    if (left.length > 0) world.fail(`${script.name}: a session is left of a turn that is complete`);
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
