import { describe, expect, it } from 'vitest';

import { chooseProtocol, type ProtocolQuestion } from './protocol-choice.ts';

const configured = { name: 'two-stage', reason: 'TWO_STAGE_ENABLED' } as const;
const metadata = { protocol: 'standard' };

describe('which protocol a turn runs, and why (R179, R180)', () => {
  it.each<[string, Partial<ProtocolQuestion>, string, string]>([
    ['nothing said', {}, 'standard', 'default'],
    ['a configuration', { configured }, 'two-stage', 'TWO_STAGE_ENABLED'],
    ['metadata that may not decide', { configured, metadata }, 'two-stage', 'TWO_STAGE_ENABLED'],
    [
      'metadata that may',
      { configured, metadata, overrideEnabled: true },
      'standard',
      'metadata.protocol',
    ],
    [
      'a route before everything else',
      { configured, metadata, overrideEnabled: true, pinned: 'two_stage', pinnedBy: 'route' },
      'two-stage',
      'route',
    ],
    ['another spelling (R264)', { pinned: ' Two_Stage ' }, 'two-stage', 'request'],
    [
      'other metadata',
      { metadata: { theme: 'dark' }, overrideEnabled: true },
      'standard',
      'default',
    ],
  ])('%s', (_title, question, name, reason) => {
    expect(chooseProtocol({ overrideEnabled: false, ...question })).toEqual({ name, reason });
  });

  it.each<[string, Partial<ProtocolQuestion>]>([
    ['request', { pinned: 'content' }],
    ['request', { pinned: '' }],
    ['metadata.protocol', { metadata: { protocol: 'loop' }, overrideEnabled: true }],
    ['metadata.protocol', { metadata: { protocol: 7 }, overrideEnabled: true }],
    ['metadata.protocol', { metadata: { protocol: null }, overrideEnabled: true }],
  ])('refuses an unknown name of the %s', (source, question) => {
    expect(() => chooseProtocol({ overrideEnabled: false, ...question })).toThrow(
      expect.objectContaining({
        code: 'PROTOCOL_UNSUPPORTED',
        message: expect.stringContaining(source),
        hint: expect.stringContaining('standard, two-stage'),
      }),
    );
  });
});
