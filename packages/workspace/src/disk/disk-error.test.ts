import { OrionError } from '@orion/contracts';
import { expect, test } from 'vitest';

import { fileExists, notConfirmed, targetChanged } from '../commit/commit-errors.ts';
import { errnoOf, isErrno, onDisk, toDiskError } from './disk-error.ts';

const failed = (code: string, errno = -1): Error =>
  Object.assign(new Error('failed'), { code, errno });

test.each([
  ['ENOSPC', 'DISK_FULL', 'no space left on the disk', false],
  ['EDQUOT', 'DISK_FULL', 'the disk quota is used up', false],
  ['EROFS', 'READ_ONLY', 'the file system is read-only', false],
  ['EACCES', 'PERMISSION_DENIED', 'permission denied', false],
  ['EPERM', 'PERMISSION_DENIED', 'the operation is not permitted', false],
  ['EMFILE', 'RESOURCE_BUSY', 'too many open files', true],
  ['ENFILE', 'RESOURCE_BUSY', 'too many open files', true],
  ['EBUSY', 'RESOURCE_BUSY', 'the file is busy', true],
  ['ETXTBSY', 'RESOURCE_BUSY', 'the file is being executed', true],
  ['EAGAIN', 'RESOURCE_BUSY', 'the system is busy', true],
  ['EISDIR', 'IS_DIRECTORY', 'it is a directory', false],
  ['ENAMETOOLONG', 'INVALID_TARGET', 'the name is too long', false],
  ['ELOOP', 'INVALID_TARGET', 'a symbolic link is in the way', false],
  ['EIO', 'WRITE_FAILED', 'the call failed', false],
])('%s is %s: %s, worth another try: %s', (errno, code, reason, retryable) => {
  const cause = failed(errno);
  const error = toDiskError(cause, 'write it');
  expect(error).toMatchObject({
    code,
    message: `Could not write it: ${reason} (${errno}).`,
    retryable,
    details: { errno },
  });
  expect(error.cause).toBe(cause);
});

test('the quota of Linux has no name in Node', () => {
  const error = failed('UNKNOWN', -122);
  expect(errnoOf(error)).toBe('EDQUOT');
  expect(isErrno(error, 'ENOSPC', 'EDQUOT')).toBe(true);
  expect(isErrno(error, 'UNKNOWN')).toBe(false);
  expect(toDiskError(error, 'save').message).toBe(
    'Could not save: the disk quota is used up (EDQUOT).',
  );
});

test('what is no error of the system has no name, and is thrown as it is', async () => {
  const bug = new Error('bug');
  const named = Object.assign(new Error('named'), { code: 'ENOENT' });
  const numbered = Object.assign(new Error('numbered'), { errno: -1, code: 7 });
  for (const each of [bug, named, numbered, 'text', null, { errno: -1, code: 'ENOENT' }]) {
    expect(errnoOf(each)).toBeNull();
    expect(isErrno(each, 'ENOENT')).toBe(false);
  }
  expect(() => toDiskError(bug, 'x')).toThrow(bug);
  const own = new OrionError({ code: 'INVALID_TARGET', message: 'm' });
  expect(toDiskError(own, 'x')).toBe(own);
  await expect(onDisk('x', () => Promise.reject(bug))).rejects.toBe(bug);
  await expect(onDisk('read it', () => Promise.reject(failed('EBUSY')))).rejects.toMatchObject({
    message: 'Could not read it: the file is busy (EBUSY).',
  });
  expect(await onDisk('x', async () => 3)).toBe(3);
});

test('the errors of a commit', () => {
  const cause = failed('EEXIST');
  expect(fileExists('a.txt')).toMatchObject({
    code: 'FILE_EXISTS',
    message: '"a.txt" exists already.',
  });
  expect(fileExists('a.txt').cause).toBeUndefined();
  expect(fileExists('a.txt', cause).cause).toBe(cause);
  expect(targetChanged('a.txt')).toMatchObject({
    code: 'TARGET_CHANGED',
    message: '"a.txt" is not what it was when the work began; nothing was overwritten.',
  });
  const busy = failed('EBUSY');
  const error = notConfirmed('a.txt', busy);
  expect(error).toMatchObject({
    code: 'RESOURCE_BUSY',
    message: 'Could not make the change of "a.txt" durable: the file is busy (EBUSY).',
    // The same again would be a second change.
    retryable: false,
    hint: 'The file has its new content, but the disk did not confirm it; check the disk.',
    details: { errno: 'EBUSY', changed: true },
  });
  expect(error.cause).toBe(busy);
});
