import type { WriteReceipt } from '@orion/contracts';
import { expect, test } from 'vitest';

import { abortedMessage, pausedMessage, receiptMessage } from './receipt-message.ts';

const receipt: WriteReceipt = {
  session_id: '7f3a0000-0000-4000-8000-000000000000',
  target_file: 'a.ts',
  operation: 'create',
  bytes: 10,
  lines: 2,
  sha256: 'f'.repeat(64),
  eol: 'lf',
  bom: false,
  mode: '0644',
  persistence: 'disk',
  fence_stripped: false,
  inner_done_lines: Array.from({ length: 5000 }, (_, index) => index + 1),
  seams: Array.from({ length: 5000 }, (_, index) => ({
    line: index + 1,
    status: 'unverified' as const,
    via: 'tail' as const,
    lines_dropped: 0,
    text_set_aside: 0,
    conversion: 'none' as const,
  })),
  validation_summary: {
    attempts: 0,
    invalid_found: 0,
    corrected: 0,
    replaced: 0,
    used_safe_replacement: false,
    original_length: 10,
    final_length: 10,
  },
  warnings: [],
  not_kept: [],
};

test('R257: a receipt stays far below 4 kB in every later request, whatever it has to tell', () => {
  const message = receiptMessage(receipt);
  expect(message.length).toBeLessThan(1000);
  expect(JSON.parse(message)).toMatchObject({ status: 'written', bytes: 10, seams: 5000 });
});

test('R271, R295: it tells the model what is not as it wrote it, and only that', () => {
  expect(JSON.parse(receiptMessage(receipt))).not.toHaveProperty('lead_dropped');
  expect(JSON.parse(receiptMessage(receipt))).not.toHaveProperty('final_newline_added');
  const changed = receiptMessage({ ...receipt, lead_dropped: true, final_newline_added: true });
  expect(JSON.parse(changed)).toMatchObject({ lead_dropped: true, final_newline_added: true });
});

test('R272, R275: it tells what before the first line was left out', () => {
  expect(JSON.parse(receiptMessage(receipt))).not.toHaveProperty('thinking_set_aside');
  expect(JSON.parse(receiptMessage(receipt))).not.toHaveProperty('leading_blank_lines_dropped');
  const left = { thinking_set_aside: true, leading_blank_lines_dropped: 2 } as const;
  expect(JSON.parse(receiptMessage({ ...receipt, ...left }))).toMatchObject(left);
});

test.each([
  ['NO_DONE', 'é"\\'.repeat(2000), null, null],
  ['APPROVAL_REFUSED', 'a.txt', 'use tabs', 'use tabs'],
  ['APPROVAL_REFUSED', 'é"\\'.repeat(2000), '\\"'.repeat(2000), /^[\\"]{9,}$/u],
  ['APPROVAL_REFUSED', 'a.txt', '👩'.repeat(2000), /^👩{9,}\ufffd?$/u],
  ['DISK_FULL', 'a.txt', 'The disk is full.', null],
] as const)(
  'R160: the note of a paused session has at most 500 characters and is JSON: %s',
  (code, target_file, message, reason) => {
    const note = pausedMessage(
      {
        session_id: receipt.session_id,
        target_file,
        operation: 'create',
        code,
        lines: 3,
        bytes: 10,
        session_dir: '/ws/.orion',
        commands: [],
      },
      message,
    );
    expect(note.length).toBeLessThanOrEqual(500);
    const told = JSON.parse(note) as { readonly target_file: string; readonly reason?: string };
    expect(told).toMatchObject({ status: 'paused', code, saved_lines: 3 });
    expect(target_file.endsWith(told.target_file)).toBe(true);
    if (reason === null) expect(told).not.toHaveProperty('reason');
    else expect(told.reason).toMatch(reason);
  },
);

test('R160: an aborted session is an error with its code', () => {
  expect(JSON.parse(abortedMessage('EMPTY_CONTENT'))).toMatchObject({
    error: { code: 'EMPTY_CONTENT' },
  });
  expect(JSON.parse(abortedMessage('SESSION_ABORTED'))).toMatchObject({
    error: { code: 'SESSION_ABORTED' },
  });
});
