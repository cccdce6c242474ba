import type { Page } from 'playwright-core';

export type Held = { readonly bytes: number; readonly nodes: number };

type Snapshot = {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: [string[]] };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
};

/**
 * What a tab holds: bytes of values, and nodes of documents. Code that was compiled meanwhile does not count, nor what
 * the browser notes for itself about every request and frame.
 */
export async function heldByPage(page: Page): Promise<Held> {
  const devtools = await page.context().newCDPSession(page);
  const parts: string[] = [];
  devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => parts.push(chunk));
  // What the first collection lets go is collected by the second one.
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('HeapProfiler.takeHeapSnapshot');
  const counters = await devtools.send('Memory.getDOMCounters');
  await devtools.detach();
  const { snapshot, nodes, strings } = JSON.parse(parts.join('')) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field));
  const others = new Set(['code', 'native'].map((each) => types[0].indexOf(each)));
  // Where the text of a long string lies.
  const text = strings.indexOf('system / ExternalStringData');
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length)
    if (!others.has(nodes[at + (type ?? 0)] ?? 0) || nodes[at + (name ?? 0)] === text)
      bytes += nodes[at + (size ?? 0)] ?? 0;
  return { bytes, nodes: counters.nodes };
}
