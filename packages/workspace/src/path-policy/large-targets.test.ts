/** Hazard: a file that is larger than anybody would wait for, with few bytes on the disk (B4). */
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codeOf, commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';

const HUGE = 10 * 1024 ** 3;

it.each(['overwrite', 'append', 'insert', 'replace'] as const)(
  'B4: %s refuses a target of ten gigabytes before it reads any of them',
  async (operation) => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'huge.txt'), 'text\n');
    await truncate(join(root, 'huge.txt'), HUGE);
    expect(await codeOf(workspace.checkTarget('huge.txt', operation))).toBe('CONTENT_TOO_LARGE');
  },
);

it('B4: a target that grows that large while its change is prepared has changed, which shows at once', async () => {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'a.txt'), 'old\n');
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  const commit = workspace.commit({
    ...commitRequest('overwrite', expected, 'new\n'),
    journal: () => truncate(join(root, 'a.txt'), HUGE),
  });
  expect(await codeOf(commit)).toBe('TARGET_CHANGED');
});

it('B4: the limit is a setting, and counts the file that stands there', async () => {
  const { root, workspace } = await openTestWorkspace({ settings: { maxTargetBytes: 4 } });
  await writeFile(join(root, 'four.txt'), 'four');
  await writeFile(join(root, 'five.txt'), 'five!');
  expect(await codeOf(workspace.checkTarget('four.txt', 'append'))).toBe('no error');
  expect(await codeOf(workspace.checkTarget('five.txt', 'append'))).toBe('CONTENT_TOO_LARGE');
});

it('B4: a file of more than 256 MiB is not read for a model', async () => {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'large.txt'), 'text\n');
  await truncate(join(root, 'large.txt'), 256 * 1024 ** 2 + 1);
  const reading = workspace.readText('large.txt', { maxLines: 10, maxBytes: 1000 });
  expect(await codeOf(reading)).toBe('CONTENT_TOO_LARGE');
});
