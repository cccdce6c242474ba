// Imports of Node's own modules, taken past the facade that an `import` of one makes.
//
// The facade reads every export of the module to copy it, also those that load what they stand for when they are
// first read: `node:util` brings the threads, `node:crypto` Web Crypto, `node:process` its reports. That is a third
// of the time in which a command starts. `process.getBuiltinModule` hands out the same object as it is.
//
// 1. Every form of import is rewritten or the build fails: none is left over in silence.
// 2. What a program rarely needs (`RARE`) is loaded when one of its members is first used.

const IMPORT =
  /^import\s+(?!type\b)(?:(?<name>[\w$]+)|\*\s*as\s+(?<space>[\w$]+)|\{(?<list>[^}]*)\})\s*from\s*(['"])(?<id>node:[\w/]+)\4;?/gm;
const TYPE_IMPORT = /^import\s+type\b[^;]*?from\s*(['"])node:[\w/]+\1;?/gm;
const ANY_IMPORT = /^(?:import|export)\b[^;'"]*(['"])node:[\w/]+\1/m;

const RARE = new Set(['node:child_process']);

export function directBuiltins({ except }) {
  return {
    name: 'direct-builtins',
    transform: {
      filter: { code: /['"]node:/ },
      handler(code, id) {
        if (except.test(id)) return null;
        const changed = code.replace(TYPE_IMPORT, sameLines).replace(IMPORT, (...match) => {
          const [statement] = match;
          return rewrite(match.at(-1)) + sameLines(statement);
        });
        const missed = ANY_IMPORT.exec(changed);
        if (missed !== null) this.error(`${id}: cannot rewrite ${missed[0]}`);
        // Nothing moves to another line, which is all that stack traces show.
        return changed === code ? null : { code: changed, map: null };
      },
    },
  };
}

function rewrite({ name, space, list, id }) {
  // By its whole name: files that import `process` have a constant of that name.
  const module = `globalThis.process.getBuiltinModule('${id}')`;
  if (list !== undefined) {
    const members = list
      .split(',')
      .map((member) => member.trim())
      .filter((member) => member !== '' && !member.startsWith('type '))
      .map((member) => member.replace(/\s+as\s+/, ': '));
    return `const { ${members.join(', ')} } = ${module};`;
  }
  const local = name ?? space;
  if (!RARE.has(id)) return `const ${local} = ${module};`;
  return `const ${local} = new Proxy({}, { get: (_, key) => ${module}[key] });`;
}

function sameLines(statement) {
  return '\n'.repeat(statement.split('\n').length - 1);
}
