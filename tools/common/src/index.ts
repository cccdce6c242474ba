export { readCount } from './options.ts';
export { createRandom } from './random.ts';
export type { Random } from './random.ts';
export { shareOut } from './share-out.ts';
export { formatTable } from './table.ts';
