import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));

/**
 * What Node is started with to run the command: the built one, as a user has it. While the sources are being
 * changed, ORION_E2E_ENTRY=source runs those, and a path runs that file.
 */
export function commandEntry(): readonly string[] {
  const chosen = process.env['ORION_E2E_ENTRY'] ?? '';
  if (chosen === 'source') return ['--conditions=@orion/source', SOURCE];
  if (chosen !== '') return [chosen];
  if (!existsSync(BUILT)) {
    throw new Error(
      'apps/cli/dist is missing: run `npm run build`, or set ORION_E2E_ENTRY=source.',
    );
  }
  return [BUILT];
}
