import { useState } from 'react';

const OFF = 'orion-keys-off';

/** Whether keys that type a character are taken: kept for this tab, like everything that the page keeps. */
export function useLetters(): readonly [boolean, (hasLetters: boolean) => void] {
  const [hasLetters, set] = useState(() => sessionStorage.getItem(OFF) === null);
  return [
    hasLetters,
    (wanted) => {
      if (wanted) sessionStorage.removeItem(OFF);
      else sessionStorage.setItem(OFF, '');
      set(wanted);
    },
  ];
}
