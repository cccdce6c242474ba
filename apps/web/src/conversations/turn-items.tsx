import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { ApprovalCard } from '../approvals/approval-card.tsx';
import { textOf } from '../turn/turn-view.ts';
import type { CallItem, TurnItem, TurnView } from '../turn/turn-view.ts';
import { ErrorRow } from '../ui/error-row.tsx';
import { counted } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import { Name } from '../ui/name.tsx';
import { SessionCard } from '../writes/session-card.tsx';
import { StoredOutput } from './stored-output.tsx';

/** More of one turn is not drawn at once. */
const MOST_ITEMS = 300;
/** A longer result of a tool is folded. */
const FOLDED = 20_000;

/** What happened in a turn, in its order. */
export function TurnItems({
  turnId,
  view,
}: {
  readonly turnId: string;
  readonly view: TurnView;
}): ReactNode {
  const hidden = Math.max(0, view.items.length - MOST_ITEMS);
  return (
    <>
      {hidden > 0 && (
        <p className="faint">
          {counted(hidden, 'earlier event')} {hidden === 1 ? 'is' : 'are'} not drawn here. The{' '}
          <Link href={`/t/${turnId}`}>trace</Link> has all of them.
        </p>
      )}
      {view.items.slice(hidden).map((item) => (
        <Item
          key={`${item.kind} ${item.seq} ${nameOf(item)}`}
          turnId={turnId}
          item={item}
          view={view}
        />
      ))}
    </>
  );
}

/** Several calls are announced by one event. */
function nameOf(item: TurnItem): string {
  return item.kind === 'call' ? item.callId : '';
}

function Item({
  turnId,
  item,
  view,
}: {
  readonly turnId: string;
  readonly item: TurnItem;
  readonly view: TurnView;
}): ReactNode {
  switch (item.kind) {
    case 'text':
      if (item.isVoid) {
        return (
          <details className="void">
            <summary>Said before another process took the turn over</summary>
            <Markdown text={textOf(item)} />
          </details>
        );
      }
      return item.source === 'notice' ? (
        <p className="notice">
          <bdi>{textOf(item)}</bdi>
        </p>
      ) : (
        <Markdown text={textOf(item)} />
      );
    case 'call':
      return <CallRow call={item} projectId={view.projectId} />;
    case 'session': {
      const session = view.sessions.get(item.sessionId);
      return session === undefined ? null : (
        <SessionCard turnId={turnId} session={session} isOver={view.end !== null} />
      );
    }
    case 'approval':
      return <ApprovalCard approvalId={item.approvalId} />;
    case 'error':
      return <ErrorRow id={`${turnId} ${item.seq}`} error={item.error} />;
    default:
      return (
        <details>
          <summary>
            An event of a kind that this page does not know: <Name>{item.type}</Name>
          </summary>
          <pre tabIndex={0}>{item.json.slice(0, FOLDED)}</pre>
        </details>
      );
  }
}

function CallRow({
  call,
  projectId,
}: {
  readonly call: CallItem;
  readonly projectId: string | null;
}): ReactNode {
  const { result } = call;
  const state = result === null ? 'pending' : result.ok ? 'done' : 'failed';
  return (
    <details className="call" data-state={state}>
      <summary data-row>
        <Name>{call.name}</Name> <span className="state">{state}</span>{' '}
        <bdi className="faint">
          {result === null ? call.progress : (result.error?.code ?? firstLine(result.summary))}
        </bdi>
      </summary>
      <pre tabIndex={0}>{call.arguments.slice(0, FOLDED)}</pre>
      {call.arguments.length > FOLDED && (
        <p className="faint">{counted(call.arguments.length - FOLDED, 'further character')}</p>
      )}
      {result !== null && <pre tabIndex={0}>{result.error?.message ?? result.summary}</pre>}
      {result !== null && result.outputRef !== null && (
        <StoredOutput id={result.outputRef} projectId={projectId} />
      )}
      {result?.error?.hint !== undefined && (
        <p>
          <bdi>{result.error.hint}</bdi>
        </p>
      )}
    </details>
  );
}

function firstLine(text: string): string {
  return text.slice(0, 200).split('\n', 1)[0] ?? '';
}
