import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  CommitPart,
  CommitResult,
  PlanContent,
  TargetSnapshot,
  Workspace,
  WriteOperation,
  WritePlan,
  WritingRecord,
} from '@orion/contracts';

import { checkText } from '../validation/check-text.ts';
import type { TextCheck } from '../validation/check-text.ts';

export type PlanExecution = {
  readonly commit: CommitResult;
  /** Bytes of the content as they were checked. */
  readonly checkedBytes: number;
};

/**
 * Checks the plan's content as text and commits it. Nothing is changed unless all of it is valid.
 *
 * Rejects with INVALID_CONTENT (the first invalid byte is named), VALIDATION_FAILED when the content could not
 * be read, and whatever the workspace's commit rejects with.
 */
export async function executeWritePlan(
  plan: WritePlan,
  workspace: Workspace,
  journal: (writing: WritingRecord) => Promise<void>,
): Promise<PlanExecution> {
  const [operation] = plan.operations;
  const source = sourceOf(operation.content);
  const checkedBytes = await requireText(source, operation.target_file);
  const commit = await workspace.commit({
    target: operation.target_file,
    operation: operation.type,
    parts: partsOf(operation.type, plan.expected, source),
    eol: plan.eol,
    expected: plan.expected,
    changeId: plan.changeId,
    journal,
  });
  return { commit, checkedBytes };
}

function partsOf(
  type: WriteOperation,
  expected: TargetSnapshot,
  source: ByteSource,
): readonly CommitPart[] {
  const added: CommitPart = { kind: 'new', source };
  return type === 'append' ? [{ kind: 'kept', start: 0, end: expected.bytes }, added] : [added];
}

function sourceOf(content: PlanContent): ByteSource {
  if (content.kind === 'bytes') return content.source;
  const bytes = new TextEncoder().encode(content.text);
  return async function* once() {
    yield bytes;
  };
}

async function requireText(source: ByteSource, target: string): Promise<number> {
  let check: TextCheck;
  try {
    check = await checkText(source);
  } catch (error) {
    throw new OrionError({
      code: 'VALIDATION_FAILED',
      message: `The saved text for ${target} could not be read back, so nothing was written.`,
      cause: error,
    });
  }
  if (check.firstInvalid !== null) {
    throw new OrionError({
      code: 'INVALID_CONTENT',
      message: `The text for ${target} is not valid UTF-8 at byte ${check.firstInvalid}; nothing was written.`,
      details: { byte_offset: check.firstInvalid },
    });
  }
  return check.bytes;
}
