import { homedir } from 'node:os';
import { dirname, normalize } from 'node:path';
import { isText, type Finding, type Repository } from './repository.ts';

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** `/a/b` as a whole path or the beginning of one, not as a part of `/x/a/b` or of `/a/bc`. */
const mentions = (path: string): RegExp => new RegExp(`(?<![\\w./-])${escape(path)}(?![\\w-])`);

/** Text in which a relative path is meant as one; a test of the path policy climbs on purpose. */
const NAMES_PATHS = /\.(md|json|ya?ml|mjs|js|sh)$|(^|\/)\.[^/]+$|^\.ci\/|\.config\.ts$/;

/**
 * The repository speaks of itself alone: nothing in it may depend on the machine, the folder or
 * the registry it was made with, or point at files that a clone does not have.
 */
export function checkSelfContained(repository: Repository): Finding[] {
  const findings: Finding[] = [];
  const { root } = repository;
  const home = homedir();
  const machine = [root, ...(home.split('/').length > 2 ? [home] : [])].map(mentions);
  for (const file of repository.files) {
    const content = repository.read(file);
    if (!isText(content)) continue;
    const report = (message: string): void => {
      findings.push({ check: 'self-contained', file, message });
    };
    if (machine.some((path) => path.test(content))) report('names a folder of this machine');
    if (file === 'pnpm-lock.yaml' && /:\/\/|\btarball:/.test(content)) {
      report('names a host: write it again with `npx -y pnpm@<version> install`');
    }
    if (/(^|\/)\.(npmrc|pnpmrc|yarnrc\.yml)$/.test(file) && /registry|_auth|\/\//i.test(content)) {
      report('names a registry: that is a setting of the machine');
    }
    if (NAMES_PATHS.test(file) && file !== 'pnpm-lock.yaml') {
      for (const [climbing] of content.matchAll(/(?:\.\.\/)+[\w.@-]+(?:\/[\w.@-]+)*/g)) {
        if (normalize(`${dirname(file)}/${climbing}`).startsWith('..')) {
          report(`${climbing} leads out of the repository`);
        }
      }
    }
  }
  return findings;
}
