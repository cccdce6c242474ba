import { createElement, Fragment, memo, useState } from 'react';
import type { ReactNode } from 'react';

import { blocksOf, drawBlock } from '../text/markdown.ts';
import type { MarkdownNode } from '../text/markdown.ts';
import { formatBytes } from './format.ts';

/** A longer text is folded. */
const FOLDED = 200_000;

/** A text of a model. While it grows, only its last block is drawn again. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (text.length > FOLDED && !isOpen) {
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Show this text of {formatBytes(text.length)}
      </button>
    );
  }
  return (
    <div className="prose" dir="auto">
      {blocksOf(text).map((block, index) => (
        <Block key={index} source={block} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ source }: { readonly source: string }): ReactNode {
  return <>{drawBlock(source).map(toElement)}</>;
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
