// `npm run -s orion -- <args>`: the command of this checkout, from any folder and from a fresh
// clone. On the usual path it loads the built command into this very process, so that it costs
// no second start of Node and signals, terminal and exit code need no passing on. It installs
// and builds first when something is missing, with every word of that on stderr, since stdout
// belongs to the command. Runs on Node 20, which may be all there is before the install.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = `${root}apps/cli/dist/main.js`;
const ownNode = `${root}node_modules/.bin/node`;
const userFolder = process.env.INIT_CWD ?? process.cwd();
const OLDEST_NODE = [22, 12];

if (!existsSync(main) || !existsSync(`${root}node_modules/.modules.yaml`)) {
  const { spawnSync } = await import('node:child_process');
  for (const script of ['bootstrap', 'build']) {
    const { status, error } = spawnSync('npm', ['run', '-s', script], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    });
    if (status !== 0) {
      process.stderr.write(
        `orion: \`npm run ${script}\` failed${error ? `: ${error.message}` : ''}\n`,
      );
      process.exit(1);
    }
  }
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const newEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);

if (newEnough || !existsSync(ownNode)) {
  process.chdir(userFolder);
  process.env.PWD = userFolder;
  process.argv[1] = main;
  await import(pathToFileURL(main).href);
} else {
  const { spawn } = await import('node:child_process');
  const child = spawn(ownNode, [main, ...process.argv.slice(2)], {
    cwd: userFolder,
    stdio: 'inherit',
    env: { ...process.env, PWD: userFolder },
  });
  // Ctrl-C on a terminal reaches the child by itself; a second copy could mean "at once" to it.
  const onTerminal = process.stdin.isTTY === true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => {
      if (!(onTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(`orion: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
