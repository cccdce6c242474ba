import type { Job, QueueName, TurnJobs } from '@orion/server/turns';
import type { QueuePlace, StoreTransaction } from '@orion/contracts';
import type { SqlDatabase, SqlRow, SqlValue } from '@orion/trace-store/over-database';

/** As the engine's settings are: an attempt that was not confirmed for so long is handed out again. */
const SILENT_MS = 10_000;
const NOW = `cast(unixepoch('subsec') * 1000 as integer)`;
const TURNS: QueueName = 'turn.v1';
export const ALONE: QueueName = 'turn.alone.v1';

/** The rows that the engine would keep in a schema of its own. */
export const JOBS_TABLE = `create table if not exists simulated_job (
  queue text not null, id text not null, project_id text not null, attempts_before integer not null,
  is_batch integer not null,
  retry_count integer not null default 0, state text not null default 'created', touched_at integer not null default 0,
  primary key (queue, id))`;

type Runner = {
  all(sql: string, parameters?: readonly (string | number | null)[]): Promise<readonly SqlRow[]>;
};

/**
 * The jobs of turns as the engine keeps them, in a table of the simulated store. `isDelivered` says now and then that
 * a job which is out is handed out once more, as an engine may that has lost count of what it has handed out.
 */
export class SimulatedJobs implements TurnJobs {
  readonly #database: SqlDatabase;
  readonly #isDeliveredTwice: () => boolean;

  constructor(database: SqlDatabase, isDeliveredTwice: () => boolean = () => false) {
    this.#database = database;
    this.#isDeliveredTwice = isDeliveredTwice;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async add(turnId: string, place: QueuePlace, transaction: StoreTransaction): Promise<void> {
    await insert(transaction, TURNS, turnId, place, 0);
  }

  async addMissing(turns: Parameters<TurnJobs['addMissing']>[0]): Promise<void> {
    await this.#database.transaction(async (inside) => {
      for (const { turnId, attempt, ...place } of turns) {
        const known = await inside.all('select 1 from simulated_job where id = $1', [turnId]);
        if (known.length === 0) await insert(inside, TURNS, turnId, place, attempt);
      }
    });
  }

  take(
    queue: QueueName,
    { atMost, perProject }: Parameters<TurnJobs['take']>[1],
  ): ReturnType<TurnJobs['take']> {
    const isDeliveredTwice = this.#isDeliveredTwice();
    return this.#database.transaction(async (inside) => {
      await inside.run(
        `update simulated_job set state = 'retry' where state = 'active' and touched_at < ${NOW} - ${SILENT_MS}`,
      );
      if (isDeliveredTwice)
        await inside.run(
          `update simulated_job set state = 'retry' where state = 'active' and queue = $1`,
          [queue],
        );
      const singleton = `and ($1 <> '${ALONE}' or not exists
        (select 1 from simulated_job where queue = '${ALONE}' and state = 'active'))`;
      const waiting = await inside.all(
        `select id, project_id, attempts_before from simulated_job as job
         where queue = $1 and state <> 'active' ${singleton}
           and (job.queue <> '${TURNS}' or (select count(*) from simulated_job as other
                where other.queue = job.queue and other.project_id = job.project_id and other.state = 'active')
             < coalesce(json_extract($4, '$."' || project_id || '"'), $3))
         order by is_batch, rowid limit $2`,
        [
          queue,
          queue === ALONE ? Math.min(1, atMost) : atMost,
          perProject.others,
          JSON.stringify(Object.fromEntries(perProject.projects)),
        ],
      );
      const taken: { job: Job; attempt: number }[] = [];
      for (const { id = null, project_id: project = '', attempts_before: before = 0 } of waiting) {
        const [active] = await inside.all(
          `select count(*) as jobs from simulated_job where queue = $1 and project_id = $2 and state = 'active'`,
          [queue, project],
        );
        // As the engine's: what is to run alone is not kept back.
        const limit = perProject.projects.get(String(project)) ?? perProject.others;
        if (queue === TURNS && Number(active?.['jobs']) >= limit) continue;
        const [row] = await inside.all(
          `update simulated_job set retry_count = retry_count + (state = 'retry'), state = 'active', touched_at = ${NOW}
           where queue = $1 and id = $2 returning retry_count`,
          [queue, id],
        );
        const retryCount = Number(row?.['retry_count']);
        taken.push({
          job: { queue, id: String(id), retryCount },
          attempt: Number(before) + retryCount + 1,
        });
      }
      return taken;
    });
  }

  confirm(jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    return this.#database.transaction(async (inside) => {
      const confirmed = new Set<string>();
      for (const job of jobs) {
        const changed = await inside.run(
          `update simulated_job set touched_at = ${NOW} where ${OWN}`,
          own(job),
        );
        if (changed > 0) confirmed.add(job.id);
      }
      return confirmed;
    });
  }

  async giveBack(jobs: readonly Job[]): Promise<void> {
    await this.#database.transaction(async (inside) => {
      for (const job of jobs)
        await inside.run(`update simulated_job set state = 'retry' where ${OWN}`, own(job));
    });
  }

  /** Nobody asks: a process of the simulation is never said to be the only one. */
  held(): ReturnType<TurnJobs['held']> {
    return Promise.resolve(new Map());
  }

  async move(job: Job, attempt: number, to: Parameters<TurnJobs['move']>[2]): Promise<void> {
    await this.#database.transaction(async (inside) => {
      const [row] = await inside.all(
        `delete from simulated_job where ${OWN} returning project_id`,
        own(job),
      );
      if (row === undefined) return;
      if (typeof to === 'string')
        await insert(inside, to, job.id, { projectId: String(row['project_id']) }, attempt);
      else await insert(inside, TURNS, job.id, to, attempt);
    });
  }

  async complete(job: Job, transaction: StoreTransaction | null): Promise<boolean> {
    const runner: Runner = transaction ?? this.#database;
    const gone = await runner.all(`delete from simulated_job where ${OWN} returning id`, own(job));
    return gone.length > 0;
  }

  async remove(turnId: string, transaction: StoreTransaction): Promise<void> {
    await transaction.all('delete from simulated_job where id = $1', [turnId]);
  }
}

const OWN = `queue = $1 and id = $2 and retry_count = $3 and state = 'active'`;

function own({ queue, id, retryCount }: Job): [string, string, number] {
  return [queue, id, retryCount];
}

async function insert(
  runner: Runner,
  queue: QueueName,
  id: string,
  { projectId, priority }: QueuePlace,
  attemptsBefore: number,
): Promise<void> {
  const isBatch = Number(priority === 'batch');
  const values: SqlValue[] = [queue, id, projectId, attemptsBefore, isBatch];
  await runner.all(
    `insert into simulated_job (queue, id, project_id, attempts_before, is_batch) values ($1, $2, $3, $4, $5)
     on conflict do nothing`,
    values as (string | number)[],
  );
}
