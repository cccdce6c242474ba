import { z } from '@hono/zod-openapi';
import { WRITE_OPERATIONS } from '@orion/contracts';
import type {
  BeginUploadRequest,
  CorrectUpload,
  DiscardedUpload,
  FinalizeUpload,
  OpenUpload,
  RecoverUpload,
  Seam,
  UploadAnswer,
  UploadDiff,
  UploadsAnswer,
  WriteReceipt,
  WrittenUpload,
} from '@orion/contracts';

import { idText, optional, wholeNumber } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const STANDARD_SESSIONS = 100;
const MOST_SESSIONS = 1000;
/** More than a round asks about. */
const MOST_CORRECTIONS = 100;

const EXAMPLE_ID = '7f3a2c1e-0d4b-4b8e-9c55-2f1d6a7b8c90';

const operation = z.enum([...WRITE_OPERATIONS]);

export const beginRequest: z.ZodType<BeginUploadRequest> = z
  .strictObject({
    intent: z.string().openapi({ description: 'What the change is for, in a few words.' }),
    target_file: z.string().openapi({ description: 'Relative to the workspace root.' }),
    operation,
    location: optional(z.record(z.string(), z.unknown())).openapi({
      description:
        'For insert `{marker, position}`, for replace `{start_marker, end_marker, include_markers?}`.',
    }),
    final_newline: optional(z.boolean()).openapi({
      description: 'False: a line ending at the end of the bytes is left out. Default true.',
    }),
    start_on_new_line: optional(z.boolean()).openapi({
      description: 'append: a last line without a line ending gets one first. Default false.',
    }),
    projectId: optional(idText),
  })
  .openapi('BeginWriteSession', {
    example: { intent: 'the yearly report', target_file: 'docs/report.md', operation: 'create' },
  });

export const sessionParams: FieldsSchema<{ readonly id: string }> = z.strictObject({
  id: idText.openapi({ description: 'The id of a write session.', example: EXAMPLE_ID }),
});

export const sessionsQuery: FieldsSchema<{ readonly projectId?: string; readonly limit?: number }> =
  z.strictObject({
    projectId: optional(idText),
    limit: optional(wholeNumber({ min: 1, max: MOST_SESSIONS, standard: STANDARD_SESSIONS })),
  });

export const offsetQuery: FieldsSchema<{ readonly offset: number }> = z.strictObject({
  offset: wholeNumber({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    description: 'How many bytes are stored: those of the body follow them.',
  }),
});

const seams: z.ZodType<readonly Seam[]> = z.array(
  z.strictObject({
    line: z.int(),
    status: z.enum(['verified', 'unverified']),
    via: z.enum(['anchor', 'restart', 'tail', 'prefill', 'bridge', 'recovery']),
    lines_dropped: z.int(),
    text_set_aside: z.int(),
    conversion: z.enum(['none', 'lf_to_crlf', 'crlf_to_lf']),
  }),
);

const openFields = {
  session_id: z.string(),
  status: z.enum([
    'open',
    'needs_corrections',
    'finalizing',
    'paused',
    'in_use',
    'discarded',
    'damaged',
    'foreign',
  ]),
  uploaded: z.boolean().openapi({ description: 'False: a model writes it; it takes no bytes.' }),
  target_file: z.string().nullable(),
  operation: operation.nullable(),
  intent: z.string().nullable(),
  bytes: z
    .int()
    .openapi({ description: 'Bytes that have arrived: the offset of the next upload.' }),
  saved_bytes: z.int().openapi({
    description:
      'Of these, what survives a crash. Fewer only while an upload is under way, and where the disk failed.',
  }),
  lines: z.int(),
  seams,
  recovered_at: optional(z.string()).openapi({
    description: 'When another process, or a later turn, took it over: the last time, as ISO 8601.',
  }),
  age_ms: z.number().openapi({ description: 'Since the last activity.' }),
  code: optional(z.string()).openapi({ description: 'Why it is paused.' }),
};

export const openUpload: z.ZodType<OpenUpload> = z
  .strictObject(openFields)
  .openapi('OpenWriteSession', {
    example: {
      session_id: EXAMPLE_ID,
      status: 'open',
      uploaded: true,
      target_file: 'docs/report.md',
      operation: 'create',
      intent: 'the yearly report',
      bytes: 1_048_576,
      saved_bytes: 1_048_576,
      lines: 20_480,
      seams: [],
      age_ms: 12,
    },
  });

const receipt: z.ZodType<WriteReceipt> = z
  .strictObject({
    session_id: z.string(),
    target_file: z.string(),
    operation,
    bytes: z.int(),
    lines: z.int(),
    sha256: z.string(),
    eol: z.enum(['lf', 'crlf', 'mixed', 'none']),
    bom: z.boolean(),
    mode: z.string(),
    persistence: z.enum(['disk', 'memory']),
    fence_stripped: z.boolean(),
    lead_dropped: optional(z.literal(true)),
    thinking_set_aside: optional(z.literal(true)),
    leading_blank_lines_dropped: optional(z.int()),
    final_newline_added: optional(z.literal(true)),
    inner_done_lines: z.array(z.int()),
    trailing: optional(z.string()),
    seams,
    validation_summary: z.strictObject({
      attempts: z.int(),
      invalid_found: z.int(),
      corrected: z.int(),
      replaced: z.int(),
      used_safe_replacement: z.boolean(),
      replaced_at: optional(
        z.array(z.strictObject({ line: z.int(), column: z.int(), byte_offset: z.int() })),
      ),
      omission_suspected: optional(z.array(z.int())),
      hidden_characters: optional(z.int()),
      hidden_at: optional(z.array(z.strictObject({ line: z.int(), code_point: z.string() }))),
      original_length: z.int(),
      final_length: z.int(),
    }),
    backup_id: optional(z.string()),
    backup_path: optional(z.string()),
    warnings: z.array(z.string()),
    not_kept: z.array(z.string()),
  })
  .openapi('WriteReceipt');

export const writtenUpload: z.ZodType<WrittenUpload> = z
  .strictObject({
    session_id: z.string(),
    status: z.literal('done'),
    target_file: z.string(),
    operation,
    sha256: z.string().openapi({ description: 'Of the whole file, as it was written.' }),
    receipt: receipt.nullable().openapi({
      description: 'Null where only the undo history knows of the session, as after a restart.',
    }),
  })
  .openapi('WrittenWriteSession');

export const uploadAnswer: z.ZodType<UploadAnswer> = z
  .union([openUpload, writtenUpload])
  .openapi('WriteSession');

export const uploadsAnswer: z.ZodType<UploadsAnswer> = z
  .strictObject({ sessions: z.array(openUpload), total: z.int() })
  .openapi('WriteSessions');

export const finalizeRequest: z.ZodType<FinalizeUpload> = z
  .strictObject({
    bytes: optional(z.int().min(0)).openapi({
      description: 'The size of the whole text: nothing is written unless exactly that is stored.',
    }),
    allowEmpty: optional(z.boolean()).openapi({ description: 'create: the file may be empty.' }),
  })
  .openapi('FinalizeWriteSession', { example: { bytes: 1_048_576 } });

export const correctRequest: z.ZodType<CorrectUpload> = z
  .strictObject({
    corrections: z
      .array(z.strictObject({ index: z.int().min(1), text: z.string() }))
      .max(MOST_CORRECTIONS),
  })
  .openapi('CorrectWriteSession', { example: { corrections: [{ index: 1, text: 'é' }] } });

export const recoverRequest: z.ZodType<RecoverUpload> = z
  .strictObject({
    finalize: optional(z.boolean()).openapi({ description: 'Write what is saved.' }),
    onConflict: optional(z.enum(['overwrite', 'keep-both'])).openapi({
      description: 'With finalize: the file was changed since the session began.',
    }),
    endAt: optional(z.int().min(1)).openapi({
      description: 'With finalize, for a session that a model writes: ends before this line.',
    }),
    answer: optional(z.enum(['keep', 'strip', 'done', 'drop'])).openapi({
      description: 'With finalize, for a session that a model writes: answers its open question.',
    }),
  })
  .openapi('RecoverWriteSession', { example: { finalize: true, onConflict: 'keep-both' } });

export const discardedUpload: z.ZodType<DiscardedUpload> = z
  .strictObject({
    session_id: z.string(),
    status: z.literal('discarded'),
    attic: z.string().openapi({ description: 'The folder that still has the text.' }),
  })
  .openapi('DiscardedWriteSession');

export const uploadDiff: z.ZodType<UploadDiff> = z
  .strictObject({
    session_id: z.string(),
    target_file: z.string(),
    diff: z.string().openapi({ description: 'Unified; empty if nothing would change.' }),
    truncated: z.boolean(),
  })
  .openapi('WriteSessionDiff');

export const rangeHeaders: FieldsSchema<{ readonly range?: string }> = z.object({
  range: optional(z.string()).openapi({
    description: 'One range of bytes; anything else is answered with all of them.',
    example: 'bytes=0-1023',
  }),
});
