import type { TurnAppend } from '@orion/contracts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlRunner } from '../engine/sql-database.ts';
import { packOf } from './event-packs.ts';
import type { Pack } from './event-packs.ts';
import { textOf, wholeData } from './shared-fields.ts';
import type { EventText } from './shared-fields.ts';

/** Of one request. */
const MAX_TOKENS = 1_000_000_000;

/** What is appended to a turn. */
export type Put = {
  readonly turnId: string;
  readonly epoch: number;
  readonly afterSeq: number;
  /** How the turn ends, or the empty string if `done` does not say; null if it does not end. */
  readonly end: string | null;
  readonly checkpoint: string | null;
  /** Of the first event that has such a beginning. */
  readonly shared: string | null;
  /** The events, where they go into a pack. */
  readonly pack: Pack | null;
  readonly events: readonly {
    readonly seq: number;
    readonly kind: string;
    readonly text: EventText;
  }[];
};

export function toPut(
  { turnId, epoch, expectSeq, events, checkpoint }: TurnAppend,
  dialect: SqlRunner['dialect'],
): Put {
  const put = events.map(({ seq, kind, data }) => ({ seq, kind, text: textOf(data, dialect) }));
  return {
    turnId,
    epoch,
    afterSeq: expectSeq - 1,
    end: endOf(events),
    checkpoint: checkpoint === undefined ? null : JSON.stringify(checkpoint),
    shared: put.find(({ text }) => text.shared !== null)?.text.shared ?? null,
    pack: dialect === 'postgres' ? packOf(events, epoch) : null,
    events: put,
  };
}

function endOf(events: TurnAppend['events']): string | null {
  const done = events.find(({ kind }) => kind === 'done');
  if (done === undefined) return null;
  const { data } = done;
  const status = data !== null && typeof data === 'object' && 'status' in data ? data.status : '';
  return typeof status === 'string' ? status : '';
}

/** SQL expressions for what is appended to a turn; those that may be null are empty where they are. */
type PutColumns = Readonly<
  Record<'turnId' | 'epoch' | 'afterSeq' | 'events' | 'end' | 'checkpoint', string>
> & {
  /** What only one dialect has. */
  readonly more?: readonly string[];
  readonly from?: string;
};

/** Moves the end of a turn if, and only if, this owner may: the one place that makes the three checks. */
export function moveEnd(dialect: SqlRunner['dialect'], put: PutColumns): string {
  const now = databaseNow(dialect);
  const { end, checkpoint, more = [] } = put;
  const assignments = [
    `last_seq = ${put.afterSeq} + ${put.events}`,
    `active_at = ${now}`,
    end && `finished_at = case when ${end} is null then turn.finished_at else ${now} end`,
    end && `status = coalesce(${end}, turn.status)`,
    end && `tokens = case when ${end} is null then turn.tokens else ${tokensOf(dialect)} end`,
    // The first checkpoint says where the turn begins, and not that it has come further.
    checkpoint &&
      `idle_attempts = case when ${checkpoint} is null or turn.checkpoint is null
         then turn.idle_attempts else 0 end`,
    // Nothing continues a turn that is over.
    (end || checkpoint) &&
      `checkpoint = case when ${end || 'null'} is null
         then coalesce(${checkpoint || 'null'}, turn.checkpoint) end`,
    ...more,
  ];
  return `update turn set ${assignments.filter((each) => each !== '').join(', ')}
    ${put.from ?? ''}
    where turn.turn_id = ${put.turnId} and turn.epoch = ${put.epoch}
      and turn.last_seq = ${put.afterSeq} and turn.finished_at is null
    returning turn.turn_no, turn.turn_id, turn.epoch, turn.last_seq, turn.active_at,
      turn.cancel_requested_at`;
}

/** What its requests to models have used. A number that a provider invents keeps no turn from ending. */
function tokensOf(dialect: SqlRunner['dialect']): string {
  const whole = wholeData(dialect, 'spent');
  const count = (name: string): string => {
    const text =
      dialect === 'sqlite' ? `json_extract(data, '$.${name}')` : `(${whole})::json ->> '${name}'`;
    const type =
      dialect === 'sqlite'
        ? `json_type(data, '$.${name}') in ('integer', 'real')`
        : `json_typeof((${whole})::json -> '${name}') = 'number'`;
    const number = dialect === 'sqlite' ? text : `(${text})::numeric`;
    return `case when ${type} and ${number} between 0 and ${MAX_TOKENS} then cast(${number} as bigint) else 0 end`;
  };
  return `(select coalesce(sum(${count('inputTokens')} + ${count('outputTokens')}), 0)
    from turn_event as spent where spent.turn_no = turn.turn_no and spent.kind = 'usage')`;
}
