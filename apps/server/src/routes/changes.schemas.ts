import { z } from '@hono/zod-openapi';
import type {
  ChangeDiffAnswer,
  ChangesAnswer,
  ChangesQuery,
  UndoChangeRequest,
  UndoReport,
} from '@orion/contracts';

import { idText, optional, wholeNumber } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const MOST_CHANGES = 200;
export const STANDARD_CHANGES = 50;

const writeOperation = z.enum(['create', 'overwrite', 'append', 'insert', 'replace']);
const sha256 = z.string().openapi({ description: 'SHA-256 in hexadecimal.' });

export const changesQuery: FieldsSchema<ChangesQuery> = z.strictObject({
  projectId: optional(idText),
  limit: optional(wholeNumber({ min: 1, max: MOST_CHANGES, standard: STANDARD_CHANGES })),
  before: optional(idText).openapi({ description: '`next` of an earlier answer.' }),
});

export const changesAnswer: z.ZodType<ChangesAnswer> = z
  .strictObject({
    changes: z.array(
      z
        .strictObject({
          change_id: z.string(),
          created_at: z.string().openapi({ description: 'ISO 8601, UTC.' }),
          status: z.enum(['in_effect', 'undone']),
          undoes: z.array(z.string()),
          foreign: z.boolean().openapi({ description: 'It came with the folder.' }),
          files: z.array(
            z.strictObject({
              backup_id: z.string(),
              target_file: z.string(),
              operation: z.union([writeOperation, z.literal('undo')]),
              undone: z.boolean(),
              before: z
                .strictObject({ sha256, bytes: z.int(), mode: z.string() })
                .nullable()
                .openapi({ description: 'What undo restores; null if there was no file.' }),
              after: z.strictObject({ sha256 }).nullable(),
            }),
          ),
        })
        .openapi('Change'),
    ),
    next: z.string().nullable(),
  })
  .openapi('Changes');

export const changeParams: FieldsSchema<{ readonly id: string }> = z.strictObject({
  id: idText.openapi({ description: 'The id of a change, or of one of its backups.' }),
});

export const projectQuery: FieldsSchema<{ readonly projectId?: string }> = z.strictObject({
  projectId: optional(idText),
});

export const changeDiffAnswer: z.ZodType<ChangeDiffAnswer> = z
  .strictObject({
    files: z.array(
      z.strictObject({
        target_file: z.string(),
        diff: z.string().nullable().openapi({
          description: 'A unified diff; null where the bytes before or after it are gone.',
        }),
        cut: z.boolean().openapi({
          description: 'Of the diff, or of a long line in it, only the beginning is here.',
        }),
      }),
    ),
  })
  .openapi('ChangeDiff');

export const undoRequest: z.ZodType<UndoChangeRequest> = z
  .strictObject({
    projectId: optional(idText),
    force: optional(z.boolean()).openapi({
      description: 'Also a file that was edited since; its present version is kept.',
    }),
  })
  .openapi('UndoRequest', { example: {} });

export const undoAnswer: z.ZodType<UndoReport> = z
  .strictObject({
    change_id: z.string(),
    undo_id: optional(z.string()).openapi({
      description: 'Undo this to restore the change; missing if nothing had to be done.',
    }),
    files: z.array(
      z.strictObject({
        target_file: z.string(),
        outcome: z.enum(['restored', 'removed', 'unchanged']),
        sha256: sha256.nullable(),
        bytes: z.int(),
        backup_id: optional(z.string()),
        warnings: z.array(z.string()),
        not_kept: z.array(z.string()),
      }),
    ),
  })
  .openapi('Undone');
