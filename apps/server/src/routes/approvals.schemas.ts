import { z } from '@hono/zod-openapi';
import type {
  Approval,
  ApprovalAction,
  ApprovalAnswer,
  ApprovalsAnswer,
  ApprovalsQuery,
  ApprovalState,
  DecideRequest,
} from '@orion/contracts';

import { idText, jsonObject, optional, storableText, time, wholeNumber } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const MOST_APPROVALS = 200;
export const STANDARD_APPROVALS = 50;
const MOST_REASON = 2_000;

const STATES: readonly ApprovalState[] = ['pending', 'yes', 'no', 'turn', 'expired', 'withdrawn'];
const state = z.enum(STATES).openapi({
  description:
    '`expired`: nobody decided in time. `withdrawn`: the turn ended, or something else would happen now.',
});
const HASH = 'SHA-256 of the action: what a decision has to name.';
const EXAMPLE_HASH = '5f1d3c0e0f6f5d9e1b7f0e1e6c8b5a4d3c2b1a09f8e7d6c5b4a392817060504f';

const version = z.strictObject({ bytes: z.int(), sha256: z.string() });
const part = z.enum(['description', 'schema', 'command']);

const action: z.ZodType<ApprovalAction> = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('write'),
      intent: z.string().openapi({ description: 'What the model says it is for.' }),
      changes: z.array(
        z.strictObject({
          target_file: z.string().openapi({ description: 'Relative to the workspace.' }),
          real_path: z.string().openapi({ description: 'The file that changes.' }),
          operation: z.enum(['create', 'overwrite', 'append', 'insert', 'replace']),
          before: version.nullable().openapi({ description: 'Null if there is no file yet.' }),
          after: version,
          crlf: z.boolean().openapi({ description: 'All lines end in CRLF, before and after.' }),
          protected: z.boolean().openapi({ description: 'A protected path.' }),
          hard_link: z.boolean().openapi({
            description: 'The file has other names, under which it stays as it is.',
          }),
        }),
      ),
    }),
    z.strictObject({
      kind: z.literal('command'),
      command: z.string(),
      folder: z.string().openapi({ description: 'Where it runs.' }),
      sandbox: optional(z.enum(['auto', 'require', 'off'])),
      network: optional(z.boolean()).openapi({ description: 'Whether it reaches the network.' }),
    }),
    z.strictObject({
      kind: z.literal('mcp'),
      server: z.string(),
      place: z.string().openapi({ description: 'The command or the URL of the server.' }),
      tool: z.string().openapi({ description: 'As the server names it.' }),
      name: z.string().openapi({ description: 'As the model names it.' }),
      arguments: jsonObject,
      definition: z.strictObject({
        description: z.string(),
        schema: z.string(),
        command: z.string(),
      }),
      changed: optional(z.array(part)).openapi({
        description: 'What has changed since the tool was last agreed to.',
      }),
    }),
  ])
  .openapi('ApprovalAction', {
    description: 'What would happen, whole. Keys in use are left out of it.',
  });

const fields = {
  approvalId: z.string(),
  turnId: z.string(),
  projectId: z.string(),
  conversationId: z.string(),
  callId: z.string().nullable().openapi({ description: 'The call that waits.' }),
  sessionId: z.string().nullable().openapi({ description: 'The write session that waits.' }),
  action,
  hash: z.string().openapi({ description: HASH, example: EXAMPLE_HASH }),
  state,
  reason: z.string().nullable(),
  createdAt: time,
  expiresAt: time,
  decidedAt: time.nullable(),
};

export const approval: z.ZodType<Approval> = z.strictObject(fields).openapi('Approval');

export const approvalAnswer: z.ZodType<ApprovalAnswer> = z
  .strictObject({
    ...fields,
    diffs: z
      .array(
        z.strictObject({
          target_file: z.string(),
          diff: z.string().nullable().openapi({
            description:
              'A unified diff without the keys in use; null where an earlier version has asked.',
          }),
          cut: z.boolean().openapi({
            description: 'Of the diff, or of a long line in it, only the beginning is here.',
          }),
        }),
      )
      .openapi({ description: 'Of a write that waits, file by file.' }),
  })
  .openapi('ApprovalWithDiffs');

export const approvalsAnswer: z.ZodType<ApprovalsAnswer> = z
  .strictObject({ approvals: z.array(approval), next: z.string().nullable() })
  .openapi('Approvals');

export const approvalParams: FieldsSchema<{ readonly id: string }> = z.strictObject({
  id: idText.openapi({ description: 'The id of an approval.' }),
});

export const approvalsQuery: FieldsSchema<ApprovalsQuery> = z.strictObject({
  state: optional(z.enum(STATES)),
  projectId: optional(idText),
  turnId: optional(idText),
  limit: optional(wholeNumber({ min: 1, max: MOST_APPROVALS, standard: STANDARD_APPROVALS })),
  before: optional(idText).openapi({ description: '`next` of an earlier answer.' }),
});

export const decideRequest: z.ZodType<DecideRequest> = z
  .strictObject({
    decision: z.enum(['yes', 'no', 'turn']).openapi({
      description:
        '`turn`: yes, and to every later write of the turn that is not to a protected path.',
    }),
    hash: storableText.max(100).openapi({ description: HASH }),
    reason: optional(z.string().max(MOST_REASON)).openapi({
      description: 'For a no: the model reads it.',
    }),
  })
  .openapi('ApprovalDecision', {
    example: { decision: 'no', hash: EXAMPLE_HASH, reason: 'Keep the old heading.' },
  });
