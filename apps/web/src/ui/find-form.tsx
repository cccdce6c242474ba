import { useState } from 'react';
import type { ReactNode } from 'react';

/** The field of a view's own search, which the keys of the page lead to. Enter goes on, Shift+Enter back. */
export function FindForm({
  label,
  find,
  changed,
}: {
  readonly label: string;
  /** Leads to the next place, and says in words where that is. Never asked for an empty text. */
  readonly find: (wanted: string, by: 1 | -1) => string;
  /** Something else is wanted: what was found is not marked any more. */
  readonly changed?: () => void;
}): ReactNode {
  const [wanted, setWanted] = useState('');
  const [result, setResult] = useState('');
  const go = (by: 1 | -1): void => {
    if (wanted !== '') setResult(find(wanted, by));
  };
  return (
    <form
      className="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(1);
      }}
    >
      <label>
        {label}
        <input
          data-find
          type="search"
          value={wanted}
          onChange={({ target }) => {
            setWanted(target.value);
            setResult('');
            changed?.();
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !event.shiftKey) return;
            event.preventDefault();
            go(-1);
          }}
        />
      </label>
      <button type="submit">Next</button>
      <button type="button" onClick={() => go(-1)}>
        Previous
      </button>
      <span role="status">{result}</span>
    </form>
  );
}
