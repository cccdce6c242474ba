import type { Finding, Repository } from './repository.ts';

interface Manifest {
  readonly name?: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly type?: string;
  readonly sideEffects?: boolean;
  readonly bin?: unknown;
  readonly files?: readonly string[];
  readonly exports?: Record<string, Record<string, string>>;
  readonly publishConfig?: { readonly exports?: Record<string, Record<string, string>> };
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

const SOURCE_CONDITION = '@orion/source';

/** An app may declare only these of ours: what else it needs is the agent's to give. */
const APP_DEPENDENCIES = ['@orion/agent', '@orion/contracts', '@orion/llm-adapters'];
/** The command starts the server, in the one file that the linter lets import it. */
const COMMAND = 'cli';
const SERVER = '@orion/server';
/** What a program uses that talks to the server: it is tested where the server is. */
const CLIENT = '@orion/client';
/** The page is built into the server and runs in a browser: it knows the vocabulary, and nothing of what serves it. */
const PAGE = 'web';
const PAGE_DEPENDENCIES = ['@orion/contracts', '@orion/client'];

/** The layer of each package, as its turbo.json has to name it; any other package is `middle`. */
const LAYERS: Record<string, string> = {
  contracts: 'contracts',
  testkit: 'testkit',
  agent: 'composition',
};

const ours = (dependencies: Record<string, string> | undefined): string[] =>
  Object.keys(dependencies ?? {}).filter((name) => name.startsWith('@orion/'));

/** What a manifest says about its package, and so about who may use whom. */
export function checkManifests(repository: Repository): Finding[] {
  const findings: Finding[] = [];
  for (const file of repository.files) {
    const match = /^(packages|apps|tools)\/([^/]+)\/package\.json$/.exec(file);
    if (!match) continue;
    const [, kind, folder] = match;
    const report = (message: string): void => {
      findings.push({ check: 'manifests', file, message });
    };
    const manifest = JSON.parse(repository.read(file)) as Manifest;

    if (manifest.name !== `@orion/${folder}`) report(`the name must be @orion/${folder}`);
    if (manifest.license !== 'MIT') report('the license must be MIT');
    if (manifest.type !== 'module') report('the type must be module');
    if (kind === 'tools' && manifest.private !== true) report('tools are private');
    for (const dependencies of [manifest.dependencies, manifest.devDependencies]) {
      for (const name of ours(dependencies)) {
        if (dependencies?.[name] !== 'workspace:*')
          report(`${name} must be asked for as workspace:*`);
      }
    }
    if (ours(manifest.dependencies).includes('@orion/testkit')) {
      report('@orion/testkit is for tests: it belongs into devDependencies');
    }
    checkLayer(repository, `${kind}/${folder}`, expectedLayer(kind ?? '', folder ?? ''), findings);

    if (kind === 'apps') {
      const allowed =
        folder === PAGE
          ? PAGE_DEPENDENCIES
          : [...APP_DEPENDENCIES, ...(folder === COMMAND ? [SERVER] : [])];
      const others = ours(manifest.dependencies).filter((name) => !allowed.includes(name));
      for (const name of others)
        report(`an app may not declare ${name}: it goes through @orion/agent`);
      const tested = ['@orion/testkit', ...(`@orion/${folder}` === SERVER ? [CLIENT] : [])];
      for (const name of ours(manifest.devDependencies)) {
        // Only so that it is built first: its files are read, and nothing of it is imported.
        const isBuiltFirst = manifest.name === SERVER && name === `@orion/${PAGE}`;
        if (!tested.includes(name) && !isBuiltFirst)
          report(`an app's tests may use ${tested.join(' and ')} only, not ${name}`);
      }
    }
    if (kind === 'packages' || (kind === 'apps' && manifest.exports !== undefined)) {
      checkPublished(manifest, report);
      if (!repository.has(`${kind}/${folder}/README.md`)) {
        report('the package has no README.md: say what it owns and what it leaves to others');
      }
    }
  }
  return findings;
}

function expectedLayer(kind: string, folder: string): string {
  // An app of its own kind, since it may be part of another one: of the command, which has to load it lazily.
  if (kind === 'apps') return folder === 'server' ? 'server' : folder === PAGE ? 'page' : 'app';
  if (kind === 'tools') return 'tool';
  return LAYERS[folder] ?? 'middle';
}

function checkLayer(
  repository: Repository,
  path: string,
  layer: string,
  findings: Finding[],
): void {
  const file = `${path}/turbo.json`;
  const tags = repository.has(file)
    ? (JSON.parse(repository.read(file)) as { tags?: string[] }).tags
    : undefined;
  if (tags?.length !== 1 || tags[0] !== layer) {
    findings.push({
      check: 'manifests',
      file,
      message: `must give the package exactly the tag "${layer}": without it no layer rule applies`,
    });
  }
}

function checkPublished(manifest: Manifest, report: (message: string) => void): void {
  if (manifest.sideEffects !== false)
    report('nothing may happen on import: sideEffects must be false');
  if (!/^tsc -b(?: && node bundler\/[\w-]+\.js)?$/.test(manifest.scripts?.['build'] ?? ''))
    report('the build must be `tsc -b`, and at most a program of its folder `bundler` after it');
  if (manifest.files?.join() !== 'dist,!dist/.tsbuildinfo') {
    report('files must be ["dist", "!dist/.tsbuildinfo"]');
  }
  const exported = manifest.exports ?? {};
  const published = manifest.publishConfig?.exports ?? {};
  if (!exported['.']) report('exports must have an entry "."');
  for (const [entry, conditions] of Object.entries(exported)) {
    if (entry.includes('*'))
      report(`exports "${entry}": every entry is named, a wildcard exports all`);
    // For the tools of this repository, which run from source.
    if (entry !== '.' && Object.keys(conditions).join() === SOURCE_CONDITION) {
      if (published[entry]) report(`publishConfig.exports "${entry}": its entry is not published`);
      continue;
    }
    if (Object.keys(conditions).join() !== `${SOURCE_CONDITION},types,default`) {
      report(`exports "${entry}" must have ${SOURCE_CONDITION}, types and default, in this order`);
    }
    const { [SOURCE_CONDITION]: _source, ...rest } = conditions;
    if (JSON.stringify(published[entry]) !== JSON.stringify(rest)) {
      report(`publishConfig.exports "${entry}" must be the same without ${SOURCE_CONDITION}`);
    }
  }
  for (const entry of Object.keys(published)) {
    if (!exported[entry]) report(`publishConfig.exports has "${entry}", which exports does not`);
  }
}
