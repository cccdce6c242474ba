import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The manual pages belong to the build. They are made from the sources, which a bundle does not have. */
export function manPages() {
  return {
    name: 'man-pages',
    closeBundle() {
      const program = fileURLToPath(new URL('write-man-pages.ts', import.meta.url));
      execFileSync(process.execPath, ['--conditions=@orion/source', program], { stdio: 'inherit' });
    },
  };
}
