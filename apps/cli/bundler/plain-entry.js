/**
 * The entry says what to do on a Node that is too old, so it may need nothing that such a one lacks: the build fails
 * when the bundler puts anything of another chunk into it.
 */
export function plainEntry() {
  return {
    name: 'plain-entry',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || !chunk.isEntry) continue;
        const foreign = [
          ...chunk.imports.filter((name) => !name.startsWith('node:')),
          ...chunk.moduleIds.filter((id) => id !== chunk.facadeModuleId),
        ];
        if (foreign.length > 0)
          this.error(`${chunk.fileName} has more in it: ${foreign.join(', ')}`);
      }
    },
  };
}
