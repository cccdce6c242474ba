import { lazy } from 'react';

import { Problem } from '../ui/states.tsx';

/** What draws a trace is loaded when one is opened. */
export const LazyTraceView = lazy(async () => {
  try {
    const { TraceView } = await import('./trace-view.tsx');
    return { default: TraceView };
  } catch {
    // The server is gone, or has another version of the page, which has no file of this name.
    const error = Object.assign(new Error('This view could not be loaded.'), {
      code: 'PAGE_OUTDATED',
      hint: 'Reload the page.',
    });
    return { default: () => <Problem error={error} /> };
  }
});
