import type { JsonValue, PlanPreviewAnswer, PlanReport } from '@orion/contracts';
import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';

import { ApiError } from '../api/api.ts';
import { useServices } from '../api/context.tsx';
import { Diff } from '../ui/diff.tsx';
import { counted } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Empty, Problem } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';

/** What was shown, and the plan that it belongs to: exactly that is applied. */
type Shown = {
  readonly plan: JsonValue;
  readonly report: PlanReport;
  readonly previewHash: string | null;
};

/** A write plan: what it would do, file by file, and then does. */
export function PlanView(): ReactNode {
  const { api } = useServices();
  const [text, setText] = useState('');
  const [shown, show] = useState<Shown | null>(null);
  const [done, setDone] = useState<PlanReport | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const change = (given: string): void => {
    setText(given);
    show(null);
    setDone(null);
  };
  const run = async (step: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await step();
    } catch (error) {
      setProblem(error as Error);
    } finally {
      setBusy(false);
    }
  };
  const preview = (event: FormEvent): void => {
    event.preventDefault();
    void run(async () => {
      const plan = parsePlan(text);
      const call = { method: 'POST', body: { plan } } as const;
      show({ plan, ...(await api.call<PlanPreviewAnswer>('/api/plans/preview', call)) });
    });
  };
  const apply = ({ plan, previewHash }: Shown): void =>
    void run(async () => {
      const call = { method: 'POST', body: { plan, previewHash } } as const;
      setDone(await api.call<PlanReport>('/api/plans/apply', call));
      show(null);
    });
  return (
    <>
      <Title>Plan</Title>
      {text === '' && (
        <Empty command="orion apply-plan plan.json">
          Choose a write plan, or paste one, to see what it would change before anything is changed.
        </Empty>
      )}
      <form
        onSubmit={preview}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void event.dataTransfer.files[0]?.text().then(change);
        }}
      >
        <label>
          A plan file, chosen or dropped here
          <input
            type="file"
            accept=".json,application/json"
            onChange={({ target }) => void target.files?.[0]?.text().then(change)}
          />
        </label>
        <label>
          Its text
          <textarea rows={8} value={text} onChange={({ target }) => change(target.value)} />
        </label>
        <button type="submit" className="strong" disabled={isBusy || text.trim() === ''}>
          Show what it would change
        </button>
      </form>
      {problem !== null && <Problem error={problem} />}
      {shown !== null && (
        <section aria-label="Preview">
          <Report report={shown.report} />
          {shown.previewHash === null ? (
            <p>It cannot be applied as it is.</p>
          ) : (
            <button type="button" className="strong" disabled={isBusy} onClick={() => apply(shown)}>
              Change {counted(shown.report.changes.length, 'file')}
            </button>
          )}
        </section>
      )}
      {done !== null && (
        <section aria-label="Result">
          <p>
            <strong>{done.status === 'done' ? 'Applied' : 'Not applied'}</strong>
          </p>
          <Report report={done} />
        </section>
      )}
    </>
  );
}

function parsePlan(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new ApiError(0, 'INVALID_PLAN', `The text is not JSON: ${String(error)}`, 'Correct it.');
  }
}

function Report({ report }: { readonly report: PlanReport }): ReactNode {
  return (
    <>
      <pre dir="auto" tabIndex={0}>
        {report.text}
      </pre>
      {report.warnings.map((warning, index) => (
        <p key={index}>
          <bdi>{warning}</bdi>
        </p>
      ))}
      {report.changes.map(({ target_file: file, diff, diff_cut: isCut = false }, index) => (
        <div key={index} role="group" aria-label="Difference">
          <Name>{file}</Name>
          {diff !== undefined && <Diff diff={diff} isCut={isCut} />}
        </div>
      ))}
    </>
  );
}
