import { useMemo } from 'react';
import type { ReactNode } from 'react';

import { counted } from './format.ts';
import { saveFile } from './save-file.ts';

const MOST_CHARACTERS = 500_000;

/** Anything, as JSON. What is too long to be drawn is counted, and can be downloaded. */
export function LongJson({
  value,
  name,
}: {
  readonly value: unknown;
  /** Of the file, without its ending. */
  readonly name: string;
}): ReactNode {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return (
    <>
      <pre tabIndex={0}>{text.slice(0, MOST_CHARACTERS)}</pre>
      {text.length > MOST_CHARACTERS && (
        <p className="faint">
          {counted(text.length - MOST_CHARACTERS, 'further character')}{' '}
          <button
            type="button"
            onClick={() => saveFile(new Blob([text], { type: 'application/json' }), `${name}.json`)}
          >
            Download all of it
          </button>
        </p>
      )}
    </>
  );
}
