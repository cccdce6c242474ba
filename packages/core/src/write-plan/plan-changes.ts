/**
 * Judges a whole plan before anything changes: each operation against the result that those before it would have.
 *
 * J1. Nothing is written, and a file is not read before an operation needs it.
 * J2. Operations on one file become one change of it, under whatever names they call it.
 * J3. A refused operation leaves its file out of what follows; those on other files are judged all the same, so
 *     that all that is wrong is told at once.
 */
import { OrionError } from '@orion/contracts';
import type {
  PatternMatcher,
  PlanOperationType,
  TargetSnapshot,
  Workspace,
  WriteOperation,
  WritePlan,
  WritePlanOperation,
} from '@orion/contracts';

import { applyOperation } from './edit.ts';
import type { Edit, FileState } from './edit.ts';
import { unchangedImage } from './file-image.ts';

export type PlanningPorts = {
  readonly workspace: Pick<Workspace, 'checkTarget' | 'readTarget'>;
  readonly patterns: PatternMatcher;
  /** What is known of a target already, instead of a look at it now. */
  readonly snapshotOf?: (target: string) => TargetSnapshot;
};

/** A file of the plan, and what becomes of it. */
export type PlannedChange = {
  readonly expected: TargetSnapshot;
  readonly state: FileState;
  /** The operations that make it, by index. */
  readonly operations: readonly number[];
  /** What it is called where one word stands for all of them. */
  readonly operation: WriteOperation;
  /** Of the texts as they were given. */
  readonly givenBytes: number;
  /** All lines end in CRLF, before and after. */
  readonly crlf: boolean;
};

export type Verdict =
  | { readonly kind: 'planned'; readonly path: string; readonly edit: Edit }
  | { readonly kind: 'refused'; readonly path: string; readonly error: OrionError }
  /** It comes after a refused one on the same file. */
  | { readonly kind: 'unjudged'; readonly path: string };

export type PlannedChanges = {
  readonly changes: readonly PlannedChange[];
  /** One for each operation. */
  readonly verdicts: readonly Verdict[];
  readonly refused: boolean;
};

type PlannedFile = {
  readonly expected: TargetSnapshot;
  state: FileState;
  readonly operations: { readonly index: number; readonly type: PlanOperationType }[];
  givenBytes: number;
  refused: boolean;
};

/** Rejects only for defects and for what makes reading impossible; everything else is a verdict. */
export async function planChanges(plan: WritePlan, ports: PlanningPorts): Promise<PlannedChanges> {
  const files = new Map<string, PlannedFile>();
  const known = new Map<string, TargetSnapshot>();
  const verdicts: Verdict[] = [];
  for (const [index, operation] of plan.operations.entries()) {
    const verdict = await judge(index, operation);
    verdicts.push(verdict);
  }
  return {
    changes: [...files.values()].map((file) => changeOf(file, plan.eol)),
    verdicts,
    refused: verdicts.some(({ kind }) => kind !== 'planned'),
  };

  async function judge(index: number, operation: WritePlanOperation): Promise<Verdict> {
    let file: PlannedFile | null = null;
    try {
      file = await fileOf(operation);
      const { path } = file.expected;
      if (file.refused) return { kind: 'unjudged', path };
      requireFitting(file.state, operation, plan.must_exist);
      const edit = await applyOperation(file.state, operation, {
        patterns: ports.patterns,
        eol: plan.eol,
      });
      const created = operation.type === 'overwrite' && !file.state.exists;
      file.state = edit.state;
      file.givenBytes += edit.givenBytes;
      file.operations.push({ index, type: operation.type });
      return {
        kind: 'planned',
        path,
        edit: created ? { ...edit, warnings: [...edit.warnings, 'created_missing'] } : edit,
      };
    } catch (error) {
      if (!OrionError.isInstance(error)) throw error;
      if (file !== null) file.refused = true;
      return { kind: 'refused', path: file?.expected.path ?? operation.target_file, error };
    }
  }

  async function fileOf(operation: WritePlanOperation): Promise<PlannedFile> {
    const snapshot = known.get(operation.target_file) ?? (await look(operation));
    known.set(operation.target_file, snapshot);
    const existing = files.get(snapshot.realPath);
    if (existing !== undefined) return existing;
    const file: PlannedFile = {
      expected: snapshot,
      state: stateOf(snapshot, ports),
      operations: [],
      givenBytes: 0,
      refused: false,
    };
    files.set(snapshot.realPath, file);
    return file;
  }

  /** Whether it must be there is judged against what the operations before it leave. */
  async function look({ target_file }: WritePlanOperation): Promise<TargetSnapshot> {
    return ports.snapshotOf?.(target_file) ?? ports.workspace.checkTarget(target_file, 'overwrite');
  }
}

function stateOf(snapshot: TargetSnapshot, { workspace }: PlanningPorts): FileState {
  return {
    path: snapshot.path,
    exists: snapshot.exists,
    image: unchangedImage(snapshot.bytes),
    crlf: snapshot.eol === 'crlf',
    bom: snapshot.bom,
    ...(snapshot.encoding === undefined ? {} : { encoding: snapshot.encoding }),
    readBase: () => workspace.readTarget(snapshot),
  };
}

function requireFitting(state: FileState, { type }: WritePlanOperation, mustExist: boolean): void {
  const { path, exists } = state;
  if (type === 'create' && exists) {
    throw new OrionError({ code: 'FILE_EXISTS', message: `\`${path}\` exists already.` });
  }
  if (exists || type === 'create' || (type === 'overwrite' && !mustExist)) return;
  throw new OrionError({ code: 'FILE_NOT_FOUND', message: `There is no file \`${path}\`.` });
}

function changeOf(file: PlannedFile, eol: WritePlan['eol']): PlannedChange {
  const { expected, state, operations, givenBytes } = file;
  return {
    givenBytes,
    crlf: eol === 'match' && state.crlf && (!expected.exists || expected.eol === 'crlf'),
    expected,
    state,
    operations: operations.map(({ index }) => index),
    operation: commonOperation(
      expected,
      operations.map(({ type }) => type),
    ),
  };
}

function commonOperation(
  { exists }: TargetSnapshot,
  types: readonly PlanOperationType[],
): WriteOperation {
  const [first = 'overwrite'] = types;
  if (!exists) return first === 'create' ? 'create' : 'overwrite';
  if (types.includes('overwrite')) return 'overwrite';
  return types.every((type) => type === first) ? operationOf(first) : 'replace';
}

function operationOf(type: PlanOperationType): WriteOperation {
  return type === 'replace_all' ? 'replace' : type;
}
