/**
 * Converts the line endings of a reply to those of the content that it continues (§1.4a rule 7).
 *
 * Invariants
 * E1  The converted text does not depend on how the text was divided.
 * E2  Only line endings change: a CR without LF stays, a CRLF is never doubled.
 * E3  With 'none' the text passes unchanged and without delay.
 */

export type LineEndingConversion = 'none' | 'lf_to_crlf' | 'crlf_to_lf';

export type ConverterState = {
  readonly conversion: LineEndingConversion;
  /** Whether the text so far ends with CR; for `crlf_to_lf` that CR is still held. */
  readonly afterCarriageReturn: boolean;
};

/** `afterCarriageReturn`: the content before this text ends with a CR, so that an LF here completes a CRLF. */
export function createConverter(
  conversion: LineEndingConversion,
  afterCarriageReturn = false,
): ConverterState {
  return {
    conversion,
    afterCarriageReturn: conversion === 'lf_to_crlf' && afterCarriageReturn,
  };
}

export function convertLineEndings(
  state: ConverterState,
  text: string,
): { readonly state: ConverterState; readonly text: string } {
  if (state.conversion === 'none' || text === '') return { state, text };
  const endsWithCarriageReturn = text.endsWith('\r');
  const next =
    endsWithCarriageReturn === state.afterCarriageReturn
      ? state
      : { ...state, afterCarriageReturn: endsWithCarriageReturn };
  if (state.conversion === 'lf_to_crlf') {
    const converted = text.replace(/(\r?)\n/gu, '\r\n');
    const isSecondHalf = state.afterCarriageReturn && text.startsWith('\n');
    return { state: next, text: isSecondHalf ? converted.slice(1) : converted };
  }
  const whole = state.afterCarriageReturn ? `\r${text}` : text;
  const converted = whole.replaceAll('\r\n', '\n');
  return { state: next, text: endsWithCarriageReturn ? converted.slice(0, -1) : converted };
}

/** The text still held at the end of the message. */
export function endConversion(state: ConverterState): string {
  return state.conversion === 'crlf_to_lf' && state.afterCarriageReturn ? '\r' : '';
}
