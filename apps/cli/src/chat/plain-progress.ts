import { progressLine, type Progress } from '../rendering/progress.ts';

const LINES = 1000;
const INTERVAL_MS = 10_000;

/**
 * Says in lines of the transcript how far a file has come, where nothing is redrawn: every 1,000 lines or 10 seconds.
 */
export function progressLines(
  print: (line: string) => void,
): (progress: Progress | null, now: number) => void {
  let said: { readonly file: string; readonly lines: number; readonly at: number } | null = null;
  return (progress, now) => {
    if (progress === null) {
      said = null;
      return;
    }
    const { file, lines, startedAt } = progress;
    if (said?.file !== file) said = { file, lines, at: startedAt };
    if (lines - said.lines < LINES && now - said.at < INTERVAL_MS) return;
    said = { file, lines, at: now };
    print(progressLine(progress, now));
  };
}
