import { withoutSystemTail } from './prompts.ts';
import type { ProviderRequest } from './requests/provider-request.ts';
import type { CountMatch, TextMatch, When } from './script.ts';

/** Whether a request meets all conditions. */
export function matches(when: When | undefined, request: ProviderRequest): boolean {
  if (when === undefined) return true;
  const conversation = withoutSystemTail(request.messages);
  const last = conversation.at(-1);
  const lastUser = conversation.findLast((message) => message.role === 'user');
  const tools = conversation.filter((message) => message.role === 'tool');
  const countRole = (role: string): number =>
    conversation.filter((message) => message.role === role).length;
  const textFits = (
    wanted: TextMatch | undefined,
    message: (typeof conversation)[number] | undefined,
  ): boolean =>
    wanted === undefined || (message !== undefined && textMatches(wanted, message.text));
  const someFits = (wanted: TextMatch | undefined, messages: typeof conversation): boolean =>
    wanted === undefined || messages.some((message) => textMatches(wanted, message.text));

  return (
    (when.lastRole === undefined || when.lastRole === last?.role) &&
    textFits(when.last, last) &&
    textFits(when.lastUser, lastUser) &&
    someFits(
      when.system,
      request.messages.filter((message) => message.role === 'system'),
    ) &&
    someFits(when.history, request.messages) &&
    (when.toolResult === undefined ||
      toolResultFits(
        when.toolResult,
        tools.map((tool) => tool.text),
      )) &&
    countFits(when.toolResults, tools.length) &&
    countFits(when.assistantMessages, countRole('assistant')) &&
    countFits(when.userMessages, countRole('user')) &&
    (when.tools === undefined || when.tools === request.tools.length > 0) &&
    (when.offersTool === undefined || request.tools.includes(when.offersTool)) &&
    (when.toolChoice === undefined || when.toolChoice === request.toolChoice)
  );
}

function toolResultFits(
  wanted: NonNullable<When['toolResult']>,
  results: readonly string[],
): boolean {
  const result = results.at(wanted.nth > 0 ? wanted.nth - 1 : wanted.nth);
  return result !== undefined && (wanted.text === undefined || textMatches(wanted.text, result));
}

function textMatches(wanted: TextMatch, text: string): boolean {
  if (typeof wanted === 'string') return text.includes(wanted);
  const contained =
    typeof wanted.contains === 'string' ? [wanted.contains] : (wanted.contains ?? []);
  return (
    contained.every((part) => text.includes(part)) &&
    (wanted.matches === undefined || new RegExp(wanted.matches, 'u').test(text)) &&
    (wanted.not === undefined || !text.includes(wanted.not))
  );
}

function countFits(wanted: CountMatch | undefined, count: number): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'number') return wanted === count;
  return (
    (wanted.min === undefined || count >= wanted.min) &&
    (wanted.max === undefined || count <= wanted.max)
  );
}
