/**
 * Watches every call of this process to the file system, and lets chosen ones fail, fall short, or be the last.
 *
 * Works from outside: the functions of `node:fs/promises` are replaced, also for modules that imported them by name,
 * so that what is tested has no seam for it and is the same program as in use. Calls through other interfaces
 * (synchronous ones, child processes) are not seen.
 */
import { readlinkSync } from 'node:fs';
import promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { constants, devNull } from 'node:os';

/** A call, by the name of the system call that it mostly is. */
export type DiskCall = {
  readonly name: DiskCallName;
  /** The path of the call; for `/proc/self/fd/<n>` the file or directory that is open there. */
  readonly path: string;
  /** The second path of rename, link and copyfile. */
  readonly to?: string;
};

export type DiskFault =
  /** It fails with this error, and does nothing (but `close`, which closes all the same). */
  | { readonly kind: 'error'; readonly code: DiskErrorCode }
  /** A write accepts only so many bytes. */
  | { readonly kind: 'short'; readonly bytes: number }
  /** The process is killed, before the call or right after it. */
  | { readonly kind: 'kill'; readonly when: 'before' | 'after' };

export type DiskErrorCode =
  | 'EACCES'
  | 'EDQUOT'
  | 'EIO'
  | 'EMFILE'
  | 'ENOSPC'
  | 'EPERM'
  | 'EROFS'
  | 'EXDEV'
  | 'EOPNOTSUPP';

/** Called for each call, in order; null lets it happen. */
export type DiskRule = (call: DiskCall) => DiskFault | null;

export type DiskInterception = {
  /** From here on this rule decides; null lets everything happen. */
  use(rule: DiskRule | null): void;
  /** Everything as it was. */
  restore(): void;
};

const PATH_CALLS = {
  open: 'open',
  lstat: 'lstat',
  stat: 'stat',
  readdir: 'readdir',
  readlink: 'readlink',
  realpath: 'realpath',
  access: 'access',
  mkdir: 'mkdir',
  rm: 'rm',
  unlink: 'unlink',
  chmod: 'chmod',
  utimes: 'utimes',
  readFile: 'readfile',
  rename: 'rename',
  link: 'link',
  copyFile: 'copyfile',
} as const;

const HANDLE_CALLS = {
  read: 'read',
  write: 'write',
  sync: 'fsync',
  datasync: 'fdatasync',
  stat: 'fstat',
  chmod: 'fchmod',
  chown: 'fchown',
  truncate: 'ftruncate',
} as const;

export type DiskCallName =
  | (typeof PATH_CALLS)[keyof typeof PATH_CALLS]
  | (typeof HANDLE_CALLS)[keyof typeof HANDLE_CALLS]
  | 'close';

/** Calls that change something, or make it durable. */
export const CHANGING_CALLS: ReadonlySet<DiskCallName> = new Set<DiskCallName>([
  'open',
  'write',
  'fsync',
  'fdatasync',
  'fchmod',
  'fchown',
  'ftruncate',
  'close',
  'rename',
  'link',
  'unlink',
  'mkdir',
  'rm',
  'chmod',
  'copyfile',
  'utimes',
]);

type AnyCall = (this: unknown, ...args: unknown[]) => Promise<unknown>;
type Table = Record<string, AnyCall>;

/** One at a time in a process. */
export async function interceptDisk(): Promise<DiskInterception> {
  const probe = await promises.open(devNull);
  const handles = Object.getPrototypeOf(probe) as Table;
  await probe.close();
  const functions = promises as unknown as Table;
  const originals: { table: Table; name: string; call: AnyCall }[] = [];
  const paths = new WeakMap<object, string>();
  let rule: DiskRule | null = null;

  function replace(table: Table, name: string, make: (call: AnyCall) => AnyCall): void {
    const call = table[name];
    if (call === undefined) throw new Error(`there is no ${name}`);
    originals.push({ table, name, call });
    table[name] = make(call);
  }

  /** Of all methods `close` alone belongs to each handle by itself. */
  function watchHandle(handle: FileHandle, path: string): void {
    paths.set(handle, path);
    const close = handle.close.bind(handle);
    handle.close = async () => {
      await carryOut({ name: 'close', path }, rule, close);
    };
  }

  for (const [name, label] of Object.entries(PATH_CALLS)) {
    const isPair = name === 'rename' || name === 'link' || name === 'copyFile';
    replace(
      functions,
      name,
      (original) =>
        async function (...args) {
          const call: DiskCall = {
            name: label,
            path: realName(args[0]),
            ...(isPair ? { to: realName(args[1]) } : {}),
          };
          const result = await carryOut(call, rule, () => original.apply(this, args));
          if (label === 'open') watchHandle(result as FileHandle, call.path);
          return result;
        },
    );
  }
  for (const [name, label] of Object.entries(HANDLE_CALLS)) {
    replace(
      handles,
      name,
      (original) =>
        async function (...args) {
          const call: DiskCall = { name: label, path: paths.get(this as FileHandle) ?? '' };
          const shorten = (bytes: number): Promise<unknown> => {
            const [buffer, offset, length, ...rest] = args as [unknown, number, number];
            return original.call(this, buffer, offset, Math.min(length, bytes), ...rest);
          };
          return carryOut(call, rule, () => original.apply(this, args), shorten);
        },
    );
  }
  syncBuiltinESMExports();
  return {
    use: (next) => {
      rule = next;
    },
    restore: () => {
      for (const { table, name, call } of originals) table[name] = call;
      syncBuiltinESMExports();
    },
  };
}

async function carryOut(
  call: DiskCall,
  rule: DiskRule | null,
  proceed: () => Promise<unknown>,
  shorten?: (bytes: number) => Promise<unknown>,
): Promise<unknown> {
  const fault = rule?.(call) ?? null;
  switch (fault?.kind) {
    case undefined:
      return proceed();
    case 'short':
      if (call.name !== 'write' || shorten === undefined) return proceed();
      return shorten(fault.bytes);
    case 'error':
      // As the system does it: the descriptor is gone, whatever close answers.
      if (call.name === 'close') await proceed();
      throw diskError(fault.code, call);
    case 'kill':
      if (fault.when === 'after') await proceed();
      process.kill(process.pid, 'SIGKILL');
      return await new Promise<never>(() => undefined);
  }
}

const EDQUOT = 122;

/** As Node makes them; EDQUOT has no name there. */
function diskError(code: DiskErrorCode, call: DiskCall): Error {
  const number = code === 'EDQUOT' ? EDQUOT : constants.errno[code];
  const name = code === 'EDQUOT' ? 'UNKNOWN' : code;
  return Object.assign(new Error(`${name}: injected, ${call.name} '${call.path}'`), {
    errno: -number,
    code: name,
    syscall: call.name,
    path: call.path,
  });
}

const DESCRIPTOR_PATH = /^(\/proc\/self\/fd\/\d+)(.*)$/u;

function realName(path: unknown): string {
  const text = String(path);
  const match = DESCRIPTOR_PATH.exec(text);
  if (match === null) return text;
  try {
    return readlinkSync(match[1] ?? '') + (match[2] ?? '');
  } catch {
    return text;
  }
}
