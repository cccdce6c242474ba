import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';

import { test } from './support/test.ts';

const OLD_NODE = findOldNode();

test.skipIf(OLD_NODE === null)(
  `a Node that is too old gets one line that says what to do, exit 2${OLD_NODE === null ? ' (SKIPPED: no Node before 22.19 on PATH or in ORION_OLD_NODE)' : ''}`,
  async ({ machine }) => {
    const ended = await machine.run(['run', 'Hello'], { node: OLD_NODE ?? '' });
    expect(ended.exitCode).toBe(2);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(
      /^orion: NODE_TOO_OLD: this is Node \d+\.\d+\.\d+\. Install Node 22\.19 or newer\.\n$/u,
    );
  },
);

function findOldNode(): string | null {
  const candidates = [
    process.env['ORION_OLD_NODE'] ?? '',
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node')),
  ];
  return candidates.find((file) => file !== '' && existsSync(file) && isOld(file)) ?? null;
}

function isOld(file: string): boolean {
  try {
    const [major = 0, minor = 0] = execFileSync(file, ['-p', 'process.versions.node'], {
      encoding: 'utf8',
    })
      .split('.')
      .map(Number);
    return major < 22 || (major === 22 && minor < 19);
  } catch {
    return false;
  }
}
