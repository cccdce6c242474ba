import { createElement, Fragment, memo, useState } from 'react';
import type { ReactNode } from 'react';

import { blocksOf, drawBlock, levelsBefore } from '../text/markdown.ts';
import type { MarkdownNode } from '../text/markdown.ts';
import { formatBytes } from './format.ts';

/** A longer text is folded. */
const FOLDED = 200_000;

/** A text of a model. While it grows, only its last block is drawn again. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (text.length > FOLDED && !isOpen) {
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Show this text of {formatBytes(text.length)}
      </button>
    );
  }
  const blocks = blocksOf(text);
  const levels = levelsBefore(blocks);
  return (
    <div className="prose" dir="auto">
      {blocks.map((block, index) => (
        <Block key={index} source={block} level={levels[index] ?? 1} />
      ))}
    </div>
  );
});

const Block = memo(function Block({
  source,
  level,
}: {
  readonly source: string;
  /** Of the heading before it. */
  readonly level: number;
}): ReactNode {
  return <>{drawBlock(source, level).map(toElement)}</>;
});

function toElement(node: MarkdownNode, key: number): ReactNode {
  if (typeof node === 'string') return <Fragment key={key}>{node}</Fragment>;
  const { tag, children, href, start, align, isHost } = node;
  const attributes = {
    key,
    ...(href === undefined ? {} : { href, rel: 'noopener noreferrer', target: '_blank' }),
    ...(start === undefined ? {} : { start }),
    // What is wider than the screen is read by keys, too.
    ...(tag === 'pre' || tag === 'table' ? { tabIndex: 0 } : {}),
    ...(align === undefined && isHost === undefined
      ? {}
      : { className: isHost ? 'host' : `align-${align}` }),
  };
  // A line break and a rule must not have children, not even none.
  return children.length === 0
    ? createElement(tag, attributes)
    : createElement(tag, attributes, children.map(toElement));
}
