import type { OutputStream } from '../process/output-stream.ts';
import { wantsPlain } from '../terminal/plain-wanted.ts';
import type { Completer, Face } from './face.ts';

export type FaceOptions = {
  readonly stdin: NodeJS.ReadStream;
  readonly output: OutputStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly colors: boolean;
  /** Rings when a turn has ended. */
  readonly bell: boolean;
  readonly complete: Completer;
  /** Earlier prompts, oldest first; what is sent or cleared from now on is added here. Asked once, never rejects. */
  readonly history: () => Promise<readonly string[]>;
};

export type FaceFacts = {
  /** `--plain`. */
  readonly plain: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Pick<NodeJS.ReadStream, 'isTTY'>;
  readonly output: Pick<OutputStream, 'isTerminal' | 'columns' | 'rows'>;
};

const MIN_COLUMNS = 40;
const MIN_ROWS = 8;

/** Which face fits; `none` where nothing can be typed. */
export function chooseFace({
  plain,
  environment,
  stdin,
  output,
}: FaceFacts): 'rich' | 'plain' | 'none' {
  if (stdin.isTTY !== true) return 'none';
  const isRoomy = output.columns() >= MIN_COLUMNS && output.rows() >= MIN_ROWS;
  return wantsPlain(environment, plain) || !output.isTerminal || !isRoomy ? 'plain' : 'rich';
}

/** Takes the terminal; `close` gives it back. */
export async function openFace(kind: 'rich' | 'plain', options: FaceOptions): Promise<Face> {
  if (kind === 'plain') return (await import('./plain/plain-face.ts')).createPlainFace(options);
  return (await import('./rich/rich-face.ts')).createRichFace(options);
}
