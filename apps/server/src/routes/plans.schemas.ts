import { z } from '@hono/zod-openapi';
import { ERROR_CODES } from '@orion/contracts';
import type {
  ErrorCode,
  PlanApplyRequest,
  PlanPreviewAnswer,
  PlanPreviewRequest,
  PlanReport,
} from '@orion/contracts';

import { idText, jsonObject, jsonValue, optional } from './shared.schemas.ts';

const status = z.enum(['planned', 'done', 'failed', 'restored', 'skipped']);
const warnings = z.array(z.string());
const index = z.int();

const result = z.strictObject({
  operation_index: index,
  type: z.string(),
  target_file: z.string(),
  status,
  error: z
    .strictObject({
      code: z.enum(Object.keys(ERROR_CODES) as ErrorCode[]),
      message: z.string(),
      retryable: z.boolean(),
      hint: optional(z.string()),
    })
    .nullable(),
  error_details: optional(jsonObject),
  bytes: z.int(),
  lines: z.int(),
  occurrences: optional(z.int()),
  backup_path: optional(z.string()),
  omission_suspected: optional(z.array(index)),
  warnings,
});

const change = z.strictObject({
  target_file: z.string(),
  operations: z.array(index),
  status,
  before: z.string().nullable().openapi({ description: 'SHA-256; null if there was no file.' }),
  after: z.string().nullable(),
  backup_id: optional(z.string()),
  not_kept: z.array(z.string()),
  diff: optional(z.string()).openapi({ description: 'Of a preview: a unified diff.' }),
  diff_cut: optional(z.boolean()),
  crlf: optional(z.boolean()),
});

const receipt = z.strictObject({
  plan_id: z.string(),
  target_file: z.string(),
  operation: z.enum(['create', 'overwrite', 'append', 'insert', 'replace']),
  bytes: z.int(),
  lines: z.int(),
  sha256: z.string(),
  eol: z.enum(['lf', 'crlf', 'mixed', 'none']),
  bom: z.boolean(),
  mode: z.string(),
  backup_id: optional(z.string()),
  backup_path: optional(z.string()),
  warnings,
  not_kept: z.array(z.string()),
});

export const planReport: z.ZodType<PlanReport> = z
  .strictObject({
    plan_id: z.string(),
    intent: z.string(),
    status: z.enum(['planned', 'done', 'failed']),
    text: z.string().openapi({ description: 'The same as text, a line for each operation.' }),
    results: z.array(result),
    changes: z.array(change),
    receipts: z.array(receipt),
    warnings,
  })
  .openapi('PlanReport');

const planFields = {
  projectId: optional(idText),
  plan: jsonValue.openapi({ description: 'A write plan in its JSON form.' }),
};

const EXAMPLE = {
  intent: 'Begin the notes.',
  operations: [{ type: 'create', target_file: 'notes.md', content: '# Notes\n' }],
};

export const previewRequest: z.ZodType<PlanPreviewRequest> = z
  .strictObject(planFields)
  .openapi('PlanPreviewRequest', { example: { plan: EXAMPLE } });

export const previewAnswer: z.ZodType<PlanPreviewAnswer> = z
  .strictObject({
    report: planReport,
    previewHash: z.string().nullable().openapi({
      description: 'What `apply` has to be given; null if the plan cannot be applied.',
    }),
  })
  .openapi('PlanPreview');

export const applyRequest: z.ZodType<PlanApplyRequest> = z
  .strictObject({ ...planFields, previewHash: z.string().max(100) })
  .openapi('PlanApplyRequest', { example: { plan: EXAMPLE, previewHash: '3f7a…' } });
