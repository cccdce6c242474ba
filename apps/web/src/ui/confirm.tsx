import { visibleName } from '@orion/contracts';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';

import { Dialog } from './dialog.tsx';
import { Problem } from './states.tsx';

export type ConfirmProps = {
  /** Names the action and its object, as does `action`; both may hold the name of a file. */
  readonly title: string;
  /** What will happen, and what it would change. */
  readonly children: ReactNode;
  readonly action: string;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
};

/** An action that a person has asked for: says first what it does, then does it once, and shows what came of it. */
export function Confirm({ title, children, action, run, close }: ConfirmProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const start = async (): Promise<void> => {
    setRunning(true);
    setError(null);
    try {
      await run();
      dialog.current?.close();
    } catch (failure) {
      setError(failure as Error);
      setRunning(false);
    }
  };
  return (
    <Dialog ref={dialog} title={visibleName(title)} closed={close}>
      {/* What is longer than the screen is read by keys, too. */}
      <div className="dialog-body" role="group" aria-label="What will happen" tabIndex={0}>
        {children}
      </div>
      {error !== null && <Problem error={error} />}
      <div className="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Leave it as it is
        </button>
        <button type="button" className="strong" disabled={isRunning} onClick={() => void start()}>
          {visibleName(action)}
        </button>
      </div>
    </Dialog>
  );
}
