/** Each variable, with what it takes and the words in which it refuses the rest; `-u` writes the file anew. */
import { expect, test } from 'vitest';

import { DEFAULT_SETTINGS, settingsFromEnvironment } from './settings.ts';

const VARIABLES = [
  'WRITE_SESSION_IDLE_MS WRITE_SESSION_SAVE_LINES WRITE_SESSION_SAVE_MS WRITE_SESSION_MAX_AGE_MS',
  'WRITE_SESSION_MAX_BYTES WRITE_SESSION_MAX_IDLE_PROMPTS WRITE_SESSION_DONE_MODE WRITE_SESSION_DONE_SETTLE_MS',
  'WRITE_SESSION_STRICT WRITE_SESSION_STRIP_FENCE WRITE_SESSION_EOL WRITE_SESSION_CONTEXT_BYTES WRITE_SESSION_SEAM',
  'ORION_CONTEXT_TOKENS ORION_OUTPUT_TOKENS ORION_PREFILL ORION_TEMPERATURE ORION_SILENCE_MS',
  'MAX_DUPLICATE_ATTEMPTS MAX_IDLE_TOOL_PHASES MAX_ITERATIONS MAX_PHASE_CYCLES MAX_TOOLS_PER_TOOL_PHASE',
  'CONTROLLER_MAX_TURNS CONTROLLER_MAX_CALLS_PER_STEP CONTROLLER_MAX_INVALID ORION_STOP_SECONDS ORION_STOP_TOKENS',
  'ORION_MAX_TURNS ORION_MAX_SECONDS ORION_MAX_TOKENS ORION_DEBUG_TOOL_RESULTS PROTOCOL_OVERRIDE_ENABLED',
  'ORION_STATE_DIR DATABASE_URL ORION_ALLOW_PATH ORION_ALLOW_HARD_LINK ORION_ALLOW_OMISSIONS TRACE_STRICT',
  'ORION_OUTPUT_AUTO_CHARACTERS ORION_OUTPUT_INLINE_CHARACTERS',
  'ORION_TELEMETRY OTEL_EXPORTER_OTLP_ENDPOINT',
].flatMap((line) => line.split(' '));

const TEXTS = [
  [
    '',
    ' ',
    '-1',
    '0',
    '1',
    '15',
    '16',
    '1023',
    '1024',
    '1.5',
    '2',
    '2.1',
    ' 7 ',
    '1e3',
    '0x10',
    '65536',
    '65537',
  ],
  ['9007199254740993', 'true', 'false', 'yes', 'TRUE', 'terminal', 'first', 'auto', 'never'],
  ['match', 'as-is', 'ask', 'accept', 'strict', 'none', 'otlp', 'a,b', ' a , ,b ', 'x\ny'],
].flat();

test('every variable, by what it takes', async () => {
  const lines = [JSON.stringify(DEFAULT_SETTINGS, null, 1)];
  for (const name of VARIABLES) {
    const refused = new Set<string>();
    for (const text of TEXTS) {
      try {
        lines.push(`${name}=${JSON.stringify(text)} ${told({ [name]: text })}`);
      } catch (error) {
        refused.add(String(error).replace(JSON.stringify(text), '…'));
      }
    }
    lines.push(...refused);
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('__snapshots__/settings.txt');
});

function told(environment: Readonly<Record<string, string>>): string {
  return JSON.stringify(settingsFromEnvironment(environment));
}

test('several at once, and nothing of the others', () => {
  const environment = { MAX_ITERATIONS: '0', ORION_PREFILL: 'true', HOME: '/home', OTHER: '1' };
  expect(settingsFromEnvironment(environment)).toEqual({ maxIterations: 0, prefill: true });
  expect(settingsFromEnvironment({ MAX_ITERATIONS: undefined })).toEqual({});
});

test('all that is wrong at once, in one error', () => {
  expect(() =>
    settingsFromEnvironment({
      MAX_ITERATIONS: 'many',
      ORION_OUTPUT_AUTO_CHARACTERS: '65537',
      ORION_OUTPUT_INLINE_CHARACTERS: '-1',
      ORION_PREFILL: 'true',
    }),
  ).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message:
        'MAX_ITERATIONS is "many", but must be a whole number of at least 0. ' +
        'ORION_OUTPUT_AUTO_CHARACTERS is "65537", but must be a whole number from 0 to 65536. ' +
        'ORION_OUTPUT_INLINE_CHARACTERS is "-1", but must be a whole number from 0 to 65536.',
      hint:
        'Correct or unset MAX_ITERATIONS and start again. ' +
        'Correct or unset ORION_OUTPUT_AUTO_CHARACTERS and start again. ' +
        'Correct or unset ORION_OUTPUT_INLINE_CHARACTERS and start again.',
    }),
  );
});
