import type { ShownMessage } from '@orion/contracts';
import type { ReactNode } from 'react';

import { counted } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import { Name } from '../ui/name.tsx';

const FOLDED = 20_000;

/** A message of the stored history. */
export function StoredMessage({ message }: { readonly message: ShownMessage }): ReactNode {
  switch (message.role) {
    case 'user':
      return <UserMessage content={message.content} />;
    case 'assistant':
      return (
        <>
          {message.content !== '' && <Markdown text={message.content} />}
          {message.toolCalls?.map(({ id, name, arguments: given }) => (
            <Folded key={id} name={name} text={given} what="call" />
          ))}
        </>
      );
    case 'tool':
      return <Folded name={message.toolName} text={message.content} what="result" />;
    default:
      return null;
  }
}

export function UserMessage({ content }: { readonly content: string }): ReactNode {
  return (
    <div className="user" dir="auto">
      {content}
    </div>
  );
}

function Folded({
  name,
  text,
  what,
}: {
  readonly name: string;
  readonly text: string;
  readonly what: string;
}): ReactNode {
  return (
    <details className="call">
      <summary data-row>
        <Name>{name}</Name> <span className="faint">{what}</span>
      </summary>
      <pre tabIndex={0}>{text.slice(0, FOLDED)}</pre>
      {text.length > FOLDED && (
        <p className="faint">{counted(text.length - FOLDED, 'further character')}</p>
      )}
    </details>
  );
}
