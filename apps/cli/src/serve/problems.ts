import { OrionError, toErrorInfo } from '@orion/contracts';

import { EXIT, exitCodeOfError } from '../process/exit-code.ts';

/** Collects what the person has to correct, so that one error can list all of it. */
export class Problems {
  readonly #found: OrionError[] = [];

  /** Makes a check, and keeps the error of a wrong configuration. Rejects with any other. */
  async check(check: () => unknown): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!OrionError.isInstance(error) || exitCodeOfError(error.code) !== EXIT.usage) throw error;
      this.#found.push(error);
    }
  }

  /** Throws one error about all of them, if there are any. */
  throwAll(): void {
    const [first, ...others] = this.#found;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    // Several workspaces often lack the same.
    const messages = new Set(this.#found.map(({ message }) => message));
    const hints = new Set(this.#found.flatMap((error) => toErrorInfo(error).hint ?? []));
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: [...messages].join(' '),
      hint: [...hints].join(' '),
    });
  }
}
