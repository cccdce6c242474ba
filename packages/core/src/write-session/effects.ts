import { ASKING } from './asking.ts';
import { FINALIZE_RETRY_MS } from './control.ts';
import { finalize, SETTLING } from './finishing.ts';
import { endReply, readReply, readTextInstead } from './reading/answer-reading.ts';
import { endCorrectionReply, endRound, readCorrectionText } from './reading/correction-reading.ts';
import { acceptHeld } from './reading/undecided-reading.ts';
import { NOT_READING } from './session.ts';
import { stopIdleTimer } from './step.ts';
import type { EffectHandlers, Step } from './step.ts';

/** The wait before a session without a usable disk tries it again, in milliseconds. */
const SAVE_RETRY_MS = 30_000;

/** What each effect of the state table does. */
export const EFFECTS: EffectHandlers = {
  ...ASKING,
  ...SETTLING,
  start_idle_timer: (step) => {
    step.update({ reading: { ...NOT_READING, idleTimerRuns: true } });
    step.emit({ type: 'start_timer', timer: 'idle', milliseconds: step.session.settings.idleMs });
  },
  cancel_idle_timer: (step) => {
    if (stopIdleTimer(step)) step.emit({ type: 'cancel_timer', timer: 'idle' });
  },

  buffer: (step, { text }) => step.take(text),
  hold: (step, { text }) => readReply(step, text),
  append_reply: (step, { text }) => readCorrectionText(step, text),
  parse_reply: (step, { end }) => {
    if (step.session.control.kind === 'needs_corrections') endCorrectionReply(step);
    else endReply(step, end);
  },
  seam_reader: readTextInstead,
  accept_unverified: acceptHeld,
  resend: (step, { attempt }) => step.emit({ type: 'resend', attempt }),

  save,
  write_state: save,
  degrade: (step) =>
    step.emit({ type: 'start_timer', timer: 'save_retry', milliseconds: SAVE_RETRY_MS }),

  end_round: (step, { corrections }) => endRound(step, corrections),
  safe_replacement: (step) => {
    const { repair } = step.session;
    if (repair === null) throw new Error('nothing invalid was found that could be replaced');
    step.update({ repair: { ...repair, replace: true } });
  },
  finalize: (step, { messageOpen }) => finalize(step, messageOpen),
  retry_finalize: (step) =>
    step.emit({ type: 'start_timer', timer: 'finalize_retry', milliseconds: FINALIZE_RETRY_MS }),

  pause: (step, { code }) => step.emit({ type: 'pause', code }),
  release: (step) => step.emit({ type: 'release' }),
  park: (step) => {
    save(step);
    step.emit({ type: 'release' });
  },
  remove_directory: (step) => step.emit({ type: 'remove' }),
  move_to_attic: (step) => step.emit({ type: 'discard' }),
  warn_lost: (step) => {
    const target = step.session.metadata.target_file;
    const message = `Another process has taken over the write session for ${target}; nothing more is written here.`;
    step.emit({ type: 'warn', message });
  },
};

function save(step: Step): void {
  if (step.session.saveTimerRuns) step.emit({ type: 'cancel_timer', timer: 'save' });
  step.update({ unsavedLines: 0, saveTimerRuns: false });
  step.emit({ type: 'save' });
}
