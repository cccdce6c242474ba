import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import { Problem, Skeleton } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import type { TraceView } from './trace-view.tsx';

type Loading =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly View: typeof TraceView }
  | { readonly kind: 'failed' };

/** The server is gone, or has another version of the page, which has no file of this name. */
const FAILED = Object.assign(new Error('This view could not be loaded.'), {
  code: 'PAGE_OUTDATED',
  hint: 'Reload the page.',
});

/**
 * What draws a trace is loaded when one is opened. Not with Suspense: React holds back what follows its placeholder for
 * 300 ms, in which nothing of the trace would even be asked for.
 */
export function LazyTraceView({ requestId }: { readonly requestId: string }): ReactNode {
  const [loading, setLoading] = useState<Loading>({ kind: 'loading' });
  useEffect(() => {
    import('./trace-view.tsx').then(
      ({ TraceView: View }) => setLoading({ kind: 'loaded', View }),
      () => setLoading({ kind: 'failed' }),
    );
  }, []);
  if (loading.kind === 'loaded') return <loading.View requestId={requestId} />;
  return (
    <>
      <Title>Trace</Title>
      {loading.kind === 'loading' ? <Skeleton /> : <Problem error={FAILED} />}
    </>
  );
}
