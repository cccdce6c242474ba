// Hazard: what a turn says is drawn twice, from its events and from what is stored of it, or not at all.
import type { ShownMessage } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { drawnPart, NO_TURNS, withAnswer, withTurn } from './stored-part.ts';

const said = (...contents: string[]): ShownMessage[] =>
  contents.map((content) => ({
    role: content.endsWith('?') ? ('user' as const) : ('assistant' as const),
    content,
  }));
const answer = (updatedAt: number, from: number, ...contents: string[]) => ({
  from,
  updatedAt,
  history: said(...contents),
});
const sent = { turnId: 't', content: 'next?', after: 0, isRepeated: false };
const found = { turnId: 't', content: '' as const, createdAt: 50 };

describe('the stored messages above the turns', () => {
  it('are those from before the first turn, whatever is stored since', () => {
    const one = withTurn(NO_TURNS, sent, answer(1, 5, 'first?', 'yes'));
    expect(one).toEqual({ turns: [sent], end: 7 });
    expect(withAnswer(one, answer(99, 5, 'first?', 'yes', 'next?', 'no'))).toBe(one);
    const later = { ...sent, turnId: 'u', content: 'more?' };
    const two = withTurn(one, later, answer(99, 5, 'first?', 'yes', 'next?', 'no'));
    expect(two).toEqual({ turns: [sent, later], end: 7 });
    expect(withTurn(NO_TURNS, sent, null).end).toBe(0);
  });

  it('end at the question of a turn that was sent before anything was known', () => {
    const blind = withTurn(NO_TURNS, sent, undefined);
    expect(withAnswer(blind, undefined)).toBe(blind);
    expect(withAnswer(blind, null)).toBe(blind);
    expect(withAnswer(blind, answer(1, 5, 'first?', 'yes')).end).toBe(7);
    expect(withAnswer(blind, answer(1, 5, 'first?', 'yes', 'next?', 'n')).end).toBe(7);
  });

  it('have the question of a turn that was found running, and nothing behind it', () => {
    const first = withTurn(NO_TURNS, found, answer(49, 5, 'first?', 'yes'));
    expect(first.end).toBe(null);
    // The store does not have the question yet.
    expect(withAnswer(first, answer(49, 5, 'first?', 'yes'))).toBe(first);
    const asked = withAnswer(first, answer(50, 5, 'first?', 'yes', 'next?', 'so far'));
    expect(asked.end).toBe(8);
    expect(withAnswer(asked, answer(60, 5, 'first?', 'yes', 'next?', 'so far', 'x?'))).toBe(asked);
    const later = { ...sent, turnId: 'u' };
    expect(withTurn(first, later, answer(49, 5, 'first?', 'yes')).end).toBe(7);
  });

  it('end at the question of a turn that an earlier attempt has begun', () => {
    const again = { ...sent, after: 7, isRepeated: true };
    const stored = answer(99, 5, 'next?', 'yes', 'other?', 'so', 'next?', 'no');
    const one = withTurn(NO_TURNS, again, stored);
    expect(withAnswer(one, stored)).toEqual({ turns: [again], end: 9 });
    // Or where the question will be: the same one before that is another.
    expect(withAnswer(one, answer(9, 5, 'next?', 'yes')).end).toBe(7);
  });

  it('have the question of a turn that was found, and then confirmed, unless the turn has it', () => {
    const before = answer(49, 5, 'first?', 'yes');
    const asked = answer(50, 5, 'first?', 'yes', 'next?', 'so far');
    const early = withTurn(withTurn(NO_TURNS, found, before), sent, before);
    expect(early.turns).toEqual([sent]);
    expect(withAnswer(early, asked).end).toBe(7);
    const late = withAnswer(withTurn(NO_TURNS, found, asked), asked);
    expect(withTurn(late, sent, asked)).toEqual({ turns: [found], end: 8 });
    const second = { ...sent, turnId: 'u' };
    const both = withTurn(withTurn(late, { ...found, turnId: 'u' }, asked), second, asked);
    expect(both).toEqual({ turns: [found, second], end: 8 });
    expect(withTurn(both, second, asked)).toBe(both);
  });

  it('are all of them where no turn is drawn', () => {
    expect(withAnswer(NO_TURNS, answer(1, 5, 'first?'))).toBe(NO_TURNS);
  });
});

it('draws the last messages before the end, and counts those before them', () => {
  const page = answer(1, 5, 'a?', 'b', 'c?', 'd');
  expect(drawnPart(page, null, 9)).toEqual({ first: 5, history: page.history });
  expect(drawnPart(page, null, 3)).toEqual({ first: 6, history: said('b', 'c?', 'd') });
  expect(drawnPart(page, 7, 9)).toEqual({ first: 5, history: said('a?', 'b') });
  expect(drawnPart(page, 7, 1)).toEqual({ first: 6, history: said('b') });
  expect(drawnPart(page, 5, 9)).toEqual({ first: 5, history: [] });
  // A turn whose own messages fill the page.
  expect(drawnPart(page, 3, 9)).toEqual({ first: 3, history: [] });
});
