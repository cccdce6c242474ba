import type {
  OpenUpload,
  SessionListing,
  UploadStatus,
  Workspace,
  WriteReceipt,
  WrittenUpload,
} from '@orion/contracts';
import { defined } from '@orion/contracts';

/** What this process knows of a session beside what is on the disk. */
export type LocalFacts = {
  /** It is kept here for the next call. */
  readonly kept: boolean;
  /** A call has it now. */
  readonly used: boolean;
  /** Of one that is kept. */
  readonly bytes: KeptBytes | null;
};

export type KeptBytes = {
  /** Saved or not. */
  readonly arrived: number;
  readonly saved: number;
};

export function openUpload(listing: SessionListing, local: LocalFacts): OpenUpload {
  const { session_id, target_file, operation, intent, lines, seams, age_ms, code, recovered_at } =
    listing;
  const status = statusOf(listing, local);
  return {
    session_id,
    status,
    uploaded: listing.uploaded === true,
    target_file,
    operation,
    intent,
    bytes: local.bytes?.arrived ?? listing.bytes,
    saved_bytes: local.bytes?.saved ?? listing.saved_bytes,
    lines,
    seams,
    ...defined({ recovered_at }),
    age_ms,
    ...defined({ code: SAID.has(status) ? code : undefined }),
  };
}

/** Those whose code says something that the status does not. */
const SAID: ReadonlySet<UploadStatus> = new Set<UploadStatus>([
  'paused',
  'needs_corrections',
  'damaged',
  'foreign',
]);

function statusOf(listing: SessionListing, { kept, used }: LocalFacts): UploadStatus {
  const { status, state, code } = listing;
  if (listing.discarded === true) return 'discarded';
  if (status === 'damaged' || status === 'foreign') return status;
  if (used || (status === 'live' && !kept)) return 'in_use';
  if (listing.uploaded !== true) return 'paused';
  if (state === 'session_active.finalizing') return 'finalizing';
  if (code === 'INVALID_CONTENT') return 'needs_corrections';
  return code === undefined || code === 'NO_DONE' ? 'open' : 'paused';
}

export function writtenUpload(receipt: WriteReceipt): WrittenUpload {
  const { session_id, target_file, operation, sha256 } = receipt;
  return { session_id, status: 'done', target_file, operation, sha256, receipt };
}

/** What the undo history knows of a session: its id is that of the change. */
export function writtenChange(
  sessionId: string,
  file: Awaited<ReturnType<Workspace['findChangedFile']>>,
): WrittenUpload | null {
  if (file === null || file.after === null || file.operation === 'undo') return null;
  const { target_file, operation, after } = file;
  const { sha256 } = after;
  return { session_id: sessionId, status: 'done', target_file, operation, sha256, receipt: null };
}
