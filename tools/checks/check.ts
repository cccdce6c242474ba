// `npm run boundaries`: the checks of the repository that no ready-made tool makes.
import { fileURLToPath } from 'node:url';
import { openRepository, runChecks } from './src/index.ts';

const repository = openRepository(
  fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''),
);
const findings = runChecks(repository);
for (const { check, file, message } of findings) {
  process.stderr.write(`${file}: ${message} (${check})\n`);
}
process.stdout.write(
  `checks: ${repository.files.length} files, ${findings.length === 0 ? 'nothing found' : `${findings.length} found`}\n`,
);
process.exitCode = findings.length === 0 ? 0 : 1;
