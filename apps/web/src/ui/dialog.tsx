import { useEffect, useId, useRef } from 'react';
import type { ReactNode, RefObject } from 'react';

import { Announcements } from './announcements.tsx';

export type DialogProps = {
  readonly title: string;
  readonly children: ReactNode;
  /** The dialog is gone from the document, and the focus is back where it was. */
  readonly closed: () => void;
  readonly ref: RefObject<HTMLDialogElement | null>;
};

/** Opens with its page. It is closed by its own `close()`, which gives the focus back. */
export function Dialog({ title, children, closed, ref }: DialogProps): ReactNode {
  const heading = useId();
  const titled = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    ref.current?.showModal();
    // Not the first button: what a key does here is read first.
    titled.current?.focus();
  }, [ref]);
  return (
    <dialog ref={ref} aria-labelledby={heading} onClose={closed}>
      <h2 id={heading} ref={titled} tabIndex={-1}>
        {title}
      </h2>
      {children}
      <Announcements />
    </dialog>
  );
}
