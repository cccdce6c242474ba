/**
 * Checks a whole plan before anything changes: each operation against the result of those before it.
 *
 * J1. Nothing is written, and a file is read only when an operation needs it.
 * J2. All operations on a file become one change, even if they use different names for it.
 * J3. After a refused operation, later ones on the same file are not checked; those on other files are, so that the
 *     report contains all errors.
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

import { applyOperation, MAX_OCCURRENCES } from './edit.ts';
import type { Edit, FileState } from './edit.ts';
import { readImage, unchangedImage } from './file-image.ts';
import { HeldImage, MAX_HELD_BYTES } from './held-image.ts';
import type { Pace } from './pace.ts';
import type { ParsedOperation } from './parse-plan.ts';

export type PlanningPorts = {
  readonly workspace: Pick<Workspace, 'checkTarget' | 'readTarget' | 'maxTargetBytes'>;
  readonly patterns: PatternMatcher;
  readonly pace: Pace;
  /** Supplies a known snapshot of a target, so that it is not looked at again. */
  readonly snapshotOf?: (target: string) => TargetSnapshot;
};

/** The change of one file of the plan. */
export type PlannedChange = {
  readonly expected: TargetSnapshot;
  readonly state: FileState;
  /** The indexes of its operations. */
  readonly operations: readonly number[];
  /** One word for all of its operations. */
  readonly operation: WriteOperation;
  /** The size of all texts as they were given. */
  readonly givenBytes: number;
  /** All lines end in CRLF, before and after the change. */
  readonly crlf: boolean;
};

/** Without the resulting state: a plan may have thousands of operations, and their states would all stay in memory. */
export type PlannedEdit = Omit<Edit, 'state'>;

export type Verdict = {
  /** The type of the operation; empty if it could not be read. */
  readonly type: string;
  readonly path: string;
} & (
  | { readonly kind: 'planned'; readonly edit: PlannedEdit }
  | { readonly kind: 'refused'; readonly error: OrionError }
  /** An earlier operation on the same file was refused. */
  | { readonly kind: 'unjudged' }
);

export type PlannedChanges = {
  readonly changes: readonly PlannedChange[];
  /** One for each operation. */
  readonly verdicts: readonly Verdict[];
};

type PlannedFile = {
  readonly expected: TargetSnapshot;
  state: FileState;
  readonly operations: { readonly index: number; readonly type: PlanOperationType }[];
  givenBytes: number;
  refused: boolean;
};

/** Rejects only with ABORTED and for bugs; every other failure is a verdict. */
export async function planChanges(
  plan: Pick<WritePlan, 'must_exist' | 'eol'>,
  operations: readonly ParsedOperation[],
  ports: PlanningPorts,
): Promise<PlannedChanges> {
  const files = new Map<string, PlannedFile>();
  const known = new Map<string, TargetSnapshot>();
  const verdicts: Verdict[] = [];
  let occurrences = 0;
  for (const [index, parsed] of operations.entries()) {
    if (parsed.kind === 'operation') {
      verdicts.push(await judge(index, parsed.operation));
    } else {
      const { type, target_file: path, error } = parsed;
      verdicts.push({ kind: 'refused', type, path, error });
    }
  }
  release(files.values());
  return {
    changes: [...files.values()].map((file) => changeOf(file, plan.eol)),
    verdicts,
  };

  async function judge(index: number, operation: WritePlanOperation): Promise<Verdict> {
    const { type } = operation;
    let file: PlannedFile | null = null;
    try {
      file = await fileOf(operation);
      const { path } = file.expected;
      if (file.refused) return { kind: 'unjudged', type, path };
      requireFitting(file.state, operation, plan.must_exist);
      await ports.pace.work(0);
      await hold(file, operation);
      const { state, ...edit } = await applyOperation(file.state, operation, {
        patterns: ports.patterns,
        eol: plan.eol,
        maxBytes: ports.workspace.maxTargetBytes,
        pace: ports.pace,
      });
      occurrences += edit.occurrences ?? 0;
      if (occurrences > MAX_PLAN_OCCURRENCES) throw tooManyOccurrences();
      const created = type === 'overwrite' && !file.state.exists;
      file.state = state;
      file.givenBytes += edit.givenBytes;
      file.operations.push({ index, type });
      return {
        kind: 'planned',
        type,
        path,
        edit: created ? { ...edit, warnings: [...edit.warnings, 'created_missing'] } : edit,
      };
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code === 'ABORTED') throw error;
      if (file !== null) file.refused = true;
      return { kind: 'refused', type, path: file?.expected.path ?? operation.target_file, error };
    }
  }

  /** Holds a file in memory from the second operation that searches it. */
  async function hold(file: PlannedFile, { type }: WritePlanOperation): Promise<void> {
    const { image, readBase, held } = file.state;
    if (file.operations.length === 0 || held !== null || image.bytes > MAX_HELD_BYTES) return;
    if (type !== 'insert' && type !== 'replace' && type !== 'replace_all') return;
    const all = [...files.values()];
    const total = all.reduce((sum, { state }) => sum + (state.held?.length ?? 0), 0);
    if (total + image.bytes > MAX_ALL_HELD_BYTES) release(all);
    const bytes = ports.pace.of(() => readImage(image, readBase));
    file.state = { ...file.state, held: await HeldImage.of(bytes(), image.bytes) };
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

  /** Accepts a missing file: whether it must exist depends on the operations before this one. */
  async function look({ target_file }: WritePlanOperation): Promise<TargetSnapshot> {
    return ports.snapshotOf?.(target_file) ?? ports.workspace.checkTarget(target_file, 'overwrite');
  }
}

/** The limit for all operations of a plan. */
const MAX_PLAN_OCCURRENCES: number = 1.5 * MAX_OCCURRENCES;
const MAX_ALL_HELD_BYTES = 4 * MAX_HELD_BYTES;

function release(files: Iterable<PlannedFile>): void {
  for (const file of files) file.state = { ...file.state, held: null };
}

function tooManyOccurrences(): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message: `The plan replaces a text at more than ${MAX_PLAN_OCCURRENCES} places.`,
    hint: 'Divide it into several plans.',
  });
}

function stateOf(snapshot: TargetSnapshot, { workspace }: PlanningPorts): FileState {
  return {
    path: snapshot.path,
    exists: snapshot.exists,
    image: unchangedImage(snapshot.bytes),
    crlf: snapshot.eol === 'crlf',
    bom: snapshot.bom,
    ...(snapshot.encoding === undefined ? {} : { encoding: snapshot.encoding }),
    open: snapshot.unterminated === true,
    held: null,
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
