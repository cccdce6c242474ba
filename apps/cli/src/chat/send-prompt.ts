import type { ChatTools } from './tools.ts';

/** Shows a prompt in the transcript, and runs its turn. */
export async function sendPrompt(
  { face, turns }: ChatTools,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  face.print({ kind: 'prompt', text, attached: [] });
  await turns.run({ content: text }, signal);
}
