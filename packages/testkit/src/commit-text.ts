/** Changes of files by suites of the workspace. */
import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  CommitPart,
  TargetSnapshot,
  Workspace,
  WriteOperation,
} from '@orion/contracts';

export async function commitText(
  workspace: Workspace,
  target: string,
  operation: WriteOperation,
  text: string,
): ReturnType<Workspace['commit']> {
  const expected = await workspace.checkTarget(target, operation);
  const journal = async (): Promise<void> => undefined;
  const parts = partsOf(operation, expected, text);
  return workspace.commit({ target, operation, expected, parts, eol: 'as-is', journal });
}

export function partsOf(
  operation: WriteOperation,
  expected: TargetSnapshot,
  text: string,
): readonly CommitPart[] {
  const added: CommitPart = { kind: 'new', source: textSource(text) };
  return operation === 'append'
    ? [{ kind: 'kept', start: 0, end: expected.bytes }, added]
    : [added];
}

function textSource(text: string): ByteSource {
  return async function* once() {
    yield new TextEncoder().encode(text);
  };
}

/** The code that it rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return OrionError.isInstance(error) ? error.code : String(error);
  }
  return 'no error';
}
