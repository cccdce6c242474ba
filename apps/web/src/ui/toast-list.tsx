import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';

import { toasts } from './toasts.ts';
import type { Toast } from './toasts.ts';

/** A toast that nobody touches goes after this. */
const SHOWN_MS = 8000;

export function ToastList(): ReactNode {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.snapshot);
  return (
    <section className="toasts" aria-label="Notices">
      {shown.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function ToastCard({ toast: { id, text, show } }: { readonly toast: Toast }): ReactNode {
  const [isHeld, hold] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => toasts.close(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld]);
  return (
    <article
      className="toast"
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocus={() => hold(true)}
      onBlur={() => hold(false)}
    >
      <bdi>{text}</bdi>
      <div className="actions">
        <button
          type="button"
          onClick={() => {
            show();
            toasts.close(id);
          }}
        >
          Show
        </button>
        <button type="button" onClick={() => toasts.close(id)}>
          Close
        </button>
      </div>
    </article>
  );
}
