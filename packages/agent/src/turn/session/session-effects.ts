import type { SessionEffect } from '@orion/core';

/** What takes time, or may fail. */
export type Job = Extract<
  SessionEffect,
  {
    readonly type:
      | 'set_aside_held'
      | 'replay_held'
      | 'show'
      | 'start_over'
      | 'send_prompt'
      | 'resend'
      | 'examine'
      | 'finalize'
      | 'pause'
      | 'release'
      | 'remove'
      | 'discard';
  }
>;

/** Everything else, carried out where it is asked for. */
export type InstantEffects = {
  readonly [Type in Exclude<SessionEffect['type'], Job['type']>]: (
    effect: Extract<SessionEffect, { readonly type: Type }>,
  ) => void;
};
