import { readdir, readFile } from 'node:fs/promises';

/** A process as a person knows it. */
export type NamedProcess = { readonly pid: number; readonly name: string };

/** How many are looked at at once: each takes a descriptor, and Node reads no more files at a time. */
const AT_ONCE = 4;
/** Why a process, or `/proc` itself, cannot be read that is gone or belongs to another user. */
const NOT_OURS: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/**
 * Processes of this machine for which `belongs` holds, found through `/proc`; none where there is no such folder.
 * A process that is gone or belongs to another user is left out. Rejects if one cannot be looked at for another reason.
 */
async function findProcesses(
  belongs: (pid: number) => Promise<boolean>,
): Promise<readonly NamedProcess[]> {
  const names = await readdir('/proc').catch(noneIfNotOurs);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid));
  const look = async (pid: number): Promise<readonly NamedProcess[]> => {
    if (pid === process.pid || !(await belongs(pid))) return [];
    return [{ pid, name: (await readFile(`/proc/${pid}/comm`, 'utf8')).trim() }];
  };
  const found: NamedProcess[] = [];
  for (let from = 0; from < pids.length; from += AT_ONCE) {
    const some = pids.slice(from, from + AT_ONCE);
    found.push(...(await Promise.all(some.map((pid) => look(pid).catch(noneIfNotOurs)))).flat());
  }
  return found;
}

function noneIfNotOurs(error: NodeJS.ErrnoException): [] {
  if (!NOT_OURS.has(error.code)) throw error;
  return [];
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
