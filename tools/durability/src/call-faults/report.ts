import { formatTable } from '@orion/common';

import type { FaultReport } from './lanes.ts';

/** How often faults struck which call of which scenario; a column of zeros would say that nothing was tried. */
export function formatReport(outcomes: readonly FaultReport[]): string {
  const names = [...new Set(outcomes.map(({ scenario }) => scenario))];
  const calls = [...new Set(outcomes.map(({ struck }) => struck ?? 'missed'))].toSorted();
  const rows = names.map((name) => {
    const own = outcomes.filter(({ scenario }) => scenario === name);
    const counts = calls.map((call) =>
      String(own.filter(({ struck }) => (struck ?? 'missed') === call).length),
    );
    const gotOver = own.filter(({ gotOver: over }) => over).length;
    return [name, ...counts, String(own.length), String(gotOver)];
  });
  const head = ['scenario', ...calls, 'all', 'got over'];
  return `${formatTable([head, ...rows], 'right')}\n`;
}
