import type { ErrorInfo } from '@orion/contracts';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

import { announcer } from './announcer.ts';
import { toasts } from './toasts.ts';

/** An error where it happened, and a toast that leads to it. */
export function ErrorRow({
  id,
  error: { code, message, hint },
}: {
  /** Names the error on this page. */
  readonly id: string;
  readonly error: Pick<ErrorInfo, 'code' | 'message' | 'hint'>;
}): ReactNode {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    announcer.say(id, `Error: ${message}`);
    const show = (): void => {
      row.current?.focus();
      row.current?.scrollIntoView({ block: 'center' });
    };
    toasts.add({ id, text: `${code}: ${message}`, show });
  }, [code, id, message]);
  return (
    <section ref={row} className="problem" aria-label={`Error: ${code}`} tabIndex={-1}>
      <strong>{code}</strong>: <bdi>{message}</bdi>
      {hint !== undefined && (
        <p>
          <bdi>{hint}</bdi>
        </p>
      )}
    </section>
  );
}
