import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MODULE = /[/\\]definitions[/\\]grammar-files\.js$/;

/** Puts the grammars beside the chunk that loads them, with their licences: the module finds them by its own place. */
export function grammars() {
  return {
    name: 'grammars',
    generateBundle(_options, bundle) {
      for (const { fileName, moduleIds = [] } of Object.values(bundle)) {
        const module = moduleIds.find((id) => MODULE.test(id));
        if (module === undefined) continue;
        const folder = join(dirname(module), 'grammars');
        for (const name of readdirSync(folder)) {
          this.emitFile({
            type: 'asset',
            fileName: `${dirname(fileName)}/grammars/${name}`,
            source: readFileSync(join(folder, name)),
          });
        }
      }
    },
  };
}
