import { readdir, readFile } from 'node:fs/promises';

/** A process as a person knows it. */
export type NamedProcess = { readonly pid: number; readonly name: string };

/**
 * Processes of this machine for which `belongs` holds, found through `/proc`; none where there is no such folder.
 * A process that cannot be read belongs to another user, or is gone: it is left out.
 */
async function findProcesses(
  belongs: (pid: number) => Promise<boolean>,
): Promise<readonly NamedProcess[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid));
  const found = await Promise.all(
    pids.map(async (pid): Promise<NamedProcess[]> => {
      try {
        if (pid === process.pid || !(await belongs(pid))) return [];
        return [{ pid, name: (await readFile(`/proc/${pid}/comm`, 'utf8')).trim() }];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

/** The live processes of a group; a zombie has ended. */
export function processesOfGroup(group: number): Promise<readonly NamedProcess[]> {
  return findProcesses(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name is in brackets and may have any character; state, parent and group follow it.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return itsGroup === String(group) && state !== 'Z';
  });
}

/** The processes that began with this variable in their environment, wherever they are now. */
export function processesMarked(variable: string): Promise<readonly NamedProcess[]> {
  return findProcesses(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    return environment.split('\0').includes(variable);
  });
}
