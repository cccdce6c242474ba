import type { Approval, ApprovalAnswer, ProposedChange } from '@orion/contracts';
import { memo } from 'react';
import type { ReactNode } from 'react';

import { countUnseen } from '../text/shown-text.ts';
import { Diff } from '../ui/diff.tsx';
import { counted, formatBytes } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { ShownText } from '../ui/shown-text.tsx';

/** Everything that a yes would allow, whole. */
export function ApprovalAction({
  action,
  diffs,
  isOpen,
}: Pick<ApprovalAnswer, 'action' | 'diffs'> & {
  /** It waits: what would change is shown. Afterwards the change itself is under Changes. */
  readonly isOpen: boolean;
}): ReactNode {
  switch (action.kind) {
    case 'write':
      return (
        <>
          <Why>{action.intent}</Why>
          <Unseen
            text={[action.intent, ...action.changes.map((each) => each.real_path)].join(' ')}
          />
          {action.changes.map((change, index) => (
            <Change key={index} change={change} difference={diffs[index]} isOpen={isOpen} />
          ))}
        </>
      );
    case 'command':
      return (
        <>
          <Unseen text={`${action.command} ${action.folder}`} />
          <ShownText>{action.command}</ShownText>
          <p>
            In <Name>{action.folder}</Name>. What it changes cannot be undone.
          </p>
        </>
      );
    case 'mcp': {
      const given = JSON.stringify(action.arguments, null, 2);
      const { changed = [] } = action;
      return (
        <>
          <p>
            <Name>{action.tool}</Name> of the MCP server <Name>{action.server}</Name>, which is{' '}
            <Name>{action.place}</Name>. What it changes cannot be undone.
          </p>
          {changed.length > 0 && (
            <Warning>
              Since you last agreed to this tool, its {changed.join(' and ')} changed.
            </Warning>
          )}
          <Unseen text={`${given} ${action.tool} ${action.place}`} />
          <ShownText>{given}</ShownText>
        </>
      );
    }
    default:
      return action satisfies never;
  }
}

function Change({
  change: {
    real_path: path,
    operation,
    before,
    after,
    crlf,
    protected: isProtected,
    hard_link: hasOtherNames,
  },
  difference,
  isOpen,
}: {
  readonly change: ProposedChange;
  readonly isOpen: boolean;
  readonly difference: ApprovalAnswer['diffs'][number] | undefined;
}): ReactNode {
  const { diff = null, cut = false } = difference ?? {};
  return (
    <div role="group" aria-label="Change">
      <h3>
        {operation} <Name>{path}</Name>
      </h3>
      <p>
        {before === null
          ? `A new file of ${formatBytes(after.bytes)}.`
          : `From ${formatBytes(before.bytes)} to ${formatBytes(after.bytes)}.`}
      </p>
      <p className="faint">
        SHA-256 afterwards <code className="hash">{after.sha256}</code>
      </p>
      {isProtected && (
        <Warning>
          This path is protected: what it holds can run commands, or decides what is allowed.
        </Warning>
      )}
      {hasOtherNames && (
        <Warning>
          The file has other names (hard links). Under those it keeps its present text, and becomes
          a separate file.
        </Warning>
      )}
      {isOpen && diff === null && <Warning>The difference was not stored.</Warning>}
      {diff !== null && (
        <>
          <Unseen text={crlf ? diff.replaceAll('\r\n', '\n') : diff} />
          <Diff diff={diff} isCut={cut} isWhole hasCrlf={crlf} />
        </>
      )}
    </div>
  );
}

function Why({ children }: { readonly children: string }): ReactNode {
  return (
    <p>
      The model says:{' '}
      <q>
        <Name>{children}</Name>
      </q>
    </p>
  );
}

/** Counted again only for another text, as a difference is drawn. */
const Unseen = memo(function Unseen({ text }: { readonly text: string }): ReactNode {
  const count = countUnseen(text);
  if (count === 0) return null;
  return (
    <Warning>
      It contains {counted(count, 'invisible character')},{' '}
      {count === 1 ? 'shown as an escape' : 'each shown as an escape'}.
    </Warning>
  );
});

export function Warning({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <p className="warning">
      <strong>Note:</strong> {children}
    </p>
  );
}

/** A yes to further writes of the turn does not cover these. */
export function canCoverTurn({ action }: Pick<Approval, 'action'>): boolean {
  return action.kind === 'write' && !action.changes.some((change) => change.protected);
}
