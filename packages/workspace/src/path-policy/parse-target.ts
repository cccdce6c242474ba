import { OrionError, visibleName } from '@orion/contracts';

const MAX_COMPONENT_BYTES = 255;
const MAX_PATH_BYTES = 4096;
const MAX_SHOWN = 80;

/** A target as written, before the disk is accessed. */
export type ParsedTarget = {
  readonly absolute: boolean;
  readonly components: readonly string[];
};

export function invalidTarget(target: string, reason: string): OrionError {
  return new OrionError({
    code: 'INVALID_TARGET',
    message: `${shown(target)} cannot be used: ${reason}.`,
  });
}

/** A quoted name with every character visible. */
export function shown(target: string): string {
  return visibleName(
    JSON.stringify(target.length > MAX_SHOWN ? `${target.slice(0, MAX_SHOWN)}…` : target),
  );
}

/**
 * Splits a target into names. Rejects everything that two readers could interpret differently: parent steps,
 * backslashes, percent-encoded separators, control characters, and names that some file systems shorten.
 */
export function parseTarget(target: string): ParsedTarget {
  if (target.trim() === '') throw invalidTarget(target, 'it is empty');
  if (target.includes('\0')) throw invalidTarget(target, 'it holds a NUL character');
  if (!target.isWellFormed()) throw invalidTarget(target, 'it is not valid Unicode');
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/u.test(target)) {
    throw invalidTarget(target, 'it holds a control character');
  }
  if (target.includes('\\')) {
    throw invalidTarget(target, 'names are separated by "/", and "\\" is not part of one');
  }
  if (Buffer.byteLength(target) > MAX_PATH_BYTES) throw invalidTarget(target, 'it is too long');
  if (target.endsWith('/')) throw invalidTarget(target, 'it names a directory');
  const components = target.split('/').filter((name) => name !== '' && name !== '.');
  const first = components[0];
  if (first === undefined) throw invalidTarget(target, 'it names a directory');
  if (first === '~') throw invalidTarget(target, '"~" is not expanded');
  for (const name of components) checkComponent(target, name);
  return { absolute: target.startsWith('/'), components };
}

function checkComponent(target: string, name: string): void {
  if (name === '..') throw invalidTarget(target, 'it leads out of a directory with ".."');
  if (Buffer.byteLength(name) > MAX_COMPONENT_BYTES) {
    throw invalidTarget(target, `a name in it is longer than ${MAX_COMPONENT_BYTES} bytes`);
  }
  if (/[. ]$/u.test(name)) {
    throw invalidTarget(target, 'a name in it ends in a dot or a blank');
  }
  if (/%(?:2e|2f|5c|00)/iu.test(name)) {
    throw invalidTarget(target, 'it holds a percent-encoded separator');
  }
}
