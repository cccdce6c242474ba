import { useRef } from 'react';
import type { ReactNode } from 'react';

import { Dialog } from '../ui/dialog.tsx';
import { KEYS } from './keys.ts';

export type KeysDialogProps = {
  readonly hasLetters: boolean;
  readonly setLetters: (hasLetters: boolean) => void;
  readonly closed: () => void;
};

/** Every key of the page, and the switch for those that type a character. */
export function KeysDialog({ hasLetters, setLetters, closed }: KeysDialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <Dialog ref={dialog} title="Keys" closed={closed}>
      <div className="dialog-body">
        <label className="switch">
          <input
            type="checkbox"
            checked={hasLetters}
            onChange={({ target }) => setLetters(target.checked)}
          />
          Keys that type a character work outside of fields
        </label>
        <table className="keys">
          <tbody>
            {KEYS.map(({ keys, does }) => (
              <tr key={does}>
                <th scope="row">
                  {keys.map((key, index) => (
                    <span key={key}>
                      {index > 0 && ' or '}
                      <kbd>{nameOf(key)}</kbd>
                    </span>
                  ))}
                </th>
                <td>{does}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** On a Mac, ⌘ does the same as Ctrl. */
const isMac = navigator.platform.startsWith('Mac');

function nameOf(key: string): string {
  const name = key.replace('Escape', 'Esc').replace('+f', '+F');
  return isMac ? name.replace('Ctrl+', '⌘') : name;
}
