import { setImmediate as turnOfTheLoop, setTimeout as pause } from 'node:timers/promises';

import { createAnswerText } from '../../markdown/answer-text.ts';
import type { Face, FaceView } from '../face.ts';
import { createInputQueue } from '../input-queue.ts';
import type { FaceOptions } from '../open-face.ts';
import { transcriptLines } from '../transcript.ts';
import { createAsking } from './asking.ts';
import { createDraft } from './draft.ts';
import { isKey, widthOf, wrapToWidth } from './line-editor.ts';
import { createLiveRegion } from './live-region.ts';
import { createPicker, type Picker } from './picker.ts';
import { takeTerminal } from './raw-terminal.ts';
import { layOutRegion } from './region-rows.ts';
import { createSections } from './sections.ts';

const IDLE: FaceView = { busy: false, activity: null, queued: [], status: [], question: null };
/** A person does not pause so long within a line. */
const QUIET_MS = 100;

/**
 * The face with a region of a few rows that change, below the transcript.
 *
 * R1. Keys go to the question that is shown, or else to the draft. A question is shown when the terminal has everything
 *     and nothing was typed for a moment, and is answered only from then on: what was typed before is in the draft (B18).
 * R2. However the process ends or stops, the terminal is as it was before.
 */
export function createRichFace(options: FaceOptions): Face {
  const { output, colors, bell, environment } = options;
  const inputs = createInputQueue();
  const region = createLiveRegion({ output, widthOf, rewraps: rewraps(environment) });
  const text = createAnswerText({ columns: () => output.columns(), colors });
  const sections = createSections(region, draw);
  const draft = createDraft(options, draw);
  const look = () => ({ colors, columns: output.columns() });
  let view = IDLE;
  /** Earlier prompts to choose from, while they are looked through. */
  let search: Picker | null = null;
  let lastKeyAt = Number.NEGATIVE_INFINITY;

  const asking = createAsking({
    colors,
    columns: () => output.columns(),
    quiet,
    drawn() {
      draw();
      return region.settled();
    },
    print: (lines) =>
      sections.add('line', transcriptLines({ kind: 'verbatim', lines: lines.map(notice) }, look())),
    answer(answered) {
      inputs.push(answered);
      draw();
    },
  });
  const terminal = takeTerminal({
    stdin: options.stdin,
    onKey(key) {
      lastKeyAt = performance.now();
      handle(key);
      draw();
    },
    onPaste(pasted) {
      lastKeyAt = performance.now();
      if (asking.takesKeys()) asking.paste(pasted);
      else (search ?? draft).paste(pasted);
      draw();
    },
    onEnd() {
      inputs.push({ type: 'end' });
      inputs.end();
    },
    enter: () => region.enter(),
    leave: () => region.leave(),
    forget: () => region.forget(),
  });
  const stopListening = output.onResize(() => {
    draw();
    region.redraw();
  });

  function handle(key: string): void {
    if (isKey(key, 'ctrl+c')) {
      search = null;
      inputs.push({ type: 'interrupt', draft: draft.text() });
    } else if (isKey(key, 'ctrl+z')) {
      terminal.suspend();
    } else if (asking.takesKeys()) {
      asking.handle(key);
    } else if (search !== null) {
      search.handle(key);
    } else {
      handleInDraft(key);
    }
  }

  function handleInDraft(key: string): void {
    if (isKey(key, 'escape') && !draft.hasMenu()) {
      inputs.push({ type: 'stop' });
    } else if (isKey(key, 'ctrl+d') && draft.isEmpty()) {
      inputs.push({ type: 'end' });
    } else if (isKey(key, 'ctrl+g')) {
      inputs.push({ type: 'edit', draft: draft.text() });
    } else if (isKey(key, 'ctrl+r')) {
      void searchEarlier();
    } else if (isKey(key, 'up') && draft.isEmpty() && view.queued.length > 0) {
      inputs.push({ type: 'recall' });
    } else {
      const sent = draft.handle(key);
      if (sent !== null) inputs.push({ type: 'submitted', text: sent });
    }
  }

  async function searchEarlier(): Promise<void> {
    const items = await draft.earlier();
    if (items.length === 0) {
      const none = {
        kind: 'line',
        text: 'There are no earlier prompts yet.',
        tone: 'faint',
      } as const;
      sections.add('line', transcriptLines(none, look()));
      return;
    }
    search = createPicker({
      title: 'Earlier prompts',
      items,
      colors,
      onPicked(prompt) {
        search = null;
        if (prompt !== null) draft.replace(prompt);
      },
    });
    draw();
  }

  function draw(): void {
    const room = { columns: output.columns(), rows: output.rows(), colors };
    const asked = asking.render(room.columns) ?? search?.render(room.columns) ?? null;
    const { typed, menu } = asked ?? draft.render(room.columns);
    const open = text.open();
    region.draw(
      layOutRegion(
        {
          open: open === '' ? [] : wrapToWidth(open, room.columns),
          view,
          asked: asked?.asked ?? [],
          typed,
          menu,
        },
        room,
      ),
    );
  }

  async function quiet(): Promise<void> {
    do {
      await region.settled();
      await pause(Math.max(0, lastKeyAt + QUIET_MS - performance.now()));
      // What the terminal has sent is read now.
      await turnOfTheLoop();
      await turnOfTheLoop();
    } while (performance.now() < lastKeyAt + QUIET_MS);
  }

  draw();
  return {
    inputs,
    print(block) {
      const kind = block.kind === 'prompt' ? 'prompt' : 'line';
      sections.add(kind, transcriptLines(block, look()));
    },
    async printWhole(lines) {
      sections.addWhole(transcriptLines({ kind: 'verbatim', lines }, look()));
      await sections.settled();
      await region.room();
    },
    say(more) {
      sections.say(() => text.push(more));
    },
    endSaying() {
      sections.say(() => text.end());
      sections.endSaying();
    },
    show(next) {
      if (bell && view.busy && !next.busy) region.emit('\u0007');
      view = next;
      asking.follow(next.question);
      draw();
    },
    draft: () => draft.text(),
    setDraft(next) {
      draft.replace(next);
      draw();
    },
    emit: (sequence) => region.emit(sequence),
    lend: (use) => terminal.lend(use),
    async close() {
      stopListening();
      inputs.end();
      await sections.settled();
      await terminal.close();
    },
  };
}

function notice(text: string): { readonly text: string; readonly tone: 'notice' } {
  return { text, tone: 'notice' };
}

/** The terminals that cut their rows when they get narrower; all others wrap them. */
function rewraps(environment: FaceOptions['environment']): boolean {
  const { TERM = '', XTERM_VERSION, STY } = environment;
  return XTERM_VERSION === undefined && STY === undefined && TERM !== 'linux';
}
