import { describe, expect, it } from 'vitest';

import { createMentionCompleter } from './mentions.ts';

const FILES = [
  'README.md',
  'docs/a guide.md',
  'packages/agent/src/turn/turn.ts',
  'packages/core/src/index.ts',
  'src/cli.ts',
  'src/client/index.ts',
];
const never = new AbortController().signal;

describe('completing a mention', () => {
  it('offers paths as they are typed, quoted where they have to be', async () => {
    const complete = createMentionCompleter(() => Promise.resolve(FILES));
    expect(await complete('see @gui here', 8, never)).toEqual({
      from: 4,
      items: [{ value: '@"docs/a guide.md"', label: 'docs/a guide.md', detail: '' }],
    });
    expect((await complete('@"a g', 5, never))?.items[0]?.value).toBe('@"docs/a guide.md"');
    expect((await complete('@do', 3, never))?.items[0]).toEqual({
      value: '@docs/',
      label: 'docs/',
      detail: 'folder',
    });
    expect(await complete('no mention', 10, never)).toBeNull();
    expect(await complete('me@docs', 7, never)).toBeNull();
    expect(await complete('@nothing-like-it', 16, never)).toBeNull();
  });

  it('lists once a name, and answers from the earlier list meanwhile', async () => {
    let listings = 0;
    let files = ['old.ts'];
    let settle = (): void => undefined;
    const complete = createMentionCompleter(async () => {
      listings += 1;
      if (listings > 1) await new Promise<void>((resolve) => (settle = resolve));
      return files;
    });
    const values = async (draft: string) =>
      (await complete(draft, draft.length, never))?.items.map(({ label }) => label) ?? [];
    expect(await values('@')).toEqual(['old.ts']);
    expect(await values('@o')).toEqual(['old.ts']);
    expect(listings).toBe(1);
    files = ['old.ts', 'other.ts'];
    expect(await values('@o and @o')).toEqual(['old.ts']);
    expect(await values('@o and @ol')).toEqual(['old.ts']);
    expect(listings).toBe(2);
    settle();
    await new Promise(setImmediate);
    expect(await values('@o and @o')).toEqual(['old.ts', 'other.ts']);
    // Another name, even at the same place.
    await values('no');
    await values('@o and @o');
    expect(listings).toBe(3);
  });

  it('offers nothing where the files cannot be listed, and tries again', async () => {
    let fails = true;
    const complete = createMentionCompleter(() =>
      fails ? Promise.reject(new Error('no')) : Promise.resolve(FILES),
    );
    expect(await complete('@cli', 4, never)).toBeNull();
    fails = false;
    expect((await complete('@cli', 4, never))?.items).toHaveLength(3);
  });

  it('offers nothing to somebody who typed on', async () => {
    const complete = createMentionCompleter(() => Promise.resolve(FILES));
    expect(await complete('@cli', 4, AbortSignal.abort())).toBeNull();
  });
});
