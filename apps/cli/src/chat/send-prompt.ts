import type { ChatTools } from './tools.ts';

/** Attaches what a prompt names, shows it in the transcript, and runs its turn. */
export async function sendPrompt(
  { face, turns, orion }: ChatTools,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const attachments = await orion.readMentions(text, signal);
  face.print({ kind: 'prompt', text, attached: attachments.map(({ summary }) => summary) });
  await turns.run({ content: text, attachments }, signal);
}
