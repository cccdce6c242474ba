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

import { validatedText } from '../validation/validated-text.ts';

export type PlanExecution = {
  readonly commit: CommitResult;
  /** Bytes of the content as they were checked. */
  readonly checkedBytes: number;
};

/**
 * Commits the plan's content, which is validated as text while it is read: before the change that makes it visible,
 * every byte has passed.
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
  const text = validatedText(sourceOf(operation.content), operation.target_file);
  const commit = await workspace.commit({
    target: operation.target_file,
    operation: operation.type,
    parts: partsOf(operation.type, plan.expected, text.source),
    eol: plan.eol,
    expected: plan.expected,
    changeId: plan.changeId,
    journal,
  });
  return { commit, checkedBytes: text.bytes() };
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
