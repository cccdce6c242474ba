import type { OpenUpload, RecoverUpload, UploadDiff } from '@orion/contracts';
import { useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../api/api.ts';
import { useRead, useServices } from '../api/context.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Diff } from '../ui/diff.tsx';
import { counted } from '../ui/format.ts';
import { Loaded } from '../ui/states.tsx';
import { answersIn } from './pause-words.ts';
import type { Answer } from './pause-words.ts';

export type RecoverDialogProps = {
  readonly session: OpenUpload;
  /** The route of the session. */
  readonly path: string;
  readonly hasConflict: boolean;
  readonly close: () => void;
  readonly done: () => Promise<void>;
};

/** Writes what is saved, after the questions that only a person can answer. */
export function RecoverDialog({
  session,
  path,
  hasConflict: wasChanged,
  close,
  done,
}: RecoverDialogProps): ReactNode {
  const { api } = useServices();
  const target = session.target_file ?? session.session_id;
  const [hasConflict, setConflict] = useState(wasChanged);
  const [onConflict, choose] = useState<'keep-both' | 'overwrite'>('keep-both');
  const [answers, setAnswers] = useState<readonly Answer[]>([]);
  const [chosen, setChosen] = useState<Answer | null>(null);
  const difference = useRead<UploadDiff>(`${path}/diff`);
  const write = async (): Promise<void> => {
    const body: RecoverUpload = {
      finalize: true,
      ...(hasConflict ? { onConflict } : {}),
      ...chosen?.body,
    };
    try {
      await api.call(`${path}/recover`, { method: 'POST', body });
    } catch (error) {
      if (error instanceof ApiError) {
        // What is learned only now becomes a question of this dialog.
        if (error.code === 'TARGET_CHANGED' || error.code === 'FILE_EXISTS') setConflict(true);
        if (error.code === 'QUESTION_OPEN') setAnswers(answersIn(error.message));
      }
      throw error;
    }
    await done();
  };
  return (
    <Confirm
      title={`Write ${target}`}
      action={actionOf(target, hasConflict, onConflict)}
      run={write}
      close={close}
    >
      <p>
        The saved {counted(session.lines, 'line')} are written as they are. What was there before
        can be brought back under Changes.
      </p>
      {hasConflict && (
        <Choice
          legend="The file is not the one that the write began with"
          name="conflict"
          chosen={onConflict}
          options={[
            ['keep-both', 'Keep both: the saved text goes into a file beside it'],
            ['overwrite', 'Overwrite the file as it is now'],
          ]}
          choose={choose}
        />
      )}
      {answers.length > 0 && (
        <Choice
          legend="A question about the text is open"
          name="answer"
          chosen={chosen === null ? null : String(answers.indexOf(chosen))}
          options={answers.map(({ words }, index) => [String(index), words])}
          choose={(index) => setChosen(answers[Number(index)] ?? null)}
        />
      )}
      <Loaded query={difference}>
        {({ diff, truncated }) => <Diff diff={diff} isCut={truncated} />}
      </Loaded>
    </Confirm>
  );
}

function actionOf(target: string, hasConflict: boolean, onConflict: string): string {
  if (!hasConflict) return `Write ${target}`;
  return onConflict === 'keep-both' ? `Write beside ${target}` : `Overwrite ${target}`;
}

function Choice<Value extends string>({
  legend,
  name,
  chosen,
  options,
  choose,
}: {
  readonly legend: string;
  readonly name: string;
  readonly chosen: Value | null;
  readonly options: readonly (readonly [Value, string])[];
  readonly choose: (value: Value) => void;
}): ReactNode {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map(([value, words]) => (
        <label key={value} className="option">
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            onChange={() => choose(value)}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}
