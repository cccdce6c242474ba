/** What a person said to something that waits for a yes; the reason is for the model. */
export type Approval =
  | { readonly approved: true }
  | { readonly approved: false; readonly reason: string };

/** Further answers: words that their first letters stand for, each with what it does. */
export type OtherAnswers<Other extends string> = Readonly<Partial<Record<Other, string>>>;

const YES = /^y(?:es)?$/iu;
const NO = /^(?:no?(?:[\s,:]+(?<why>.+))?)?$/isu;

/** The question with its answers. */
export function approvalPrompt(question: string, others: OtherAnswers<string>): string {
  const choices = Object.entries(others).map(([word, does]) => `, ${word.charAt(0)} ${does}`);
  return `${question} (y/N${choices.join('')}, n <why> tells the model) `;
}

/** What a typed line says: yes, no or one of `others`; null for anything else. Only a yes approves. */
export function readApproval<Other extends string>(
  typed: string,
  others: OtherAnswers<Other>,
): Approval | Other | null {
  if (isYes(typed)) return { approved: true };
  const answer = typed.trim();
  const no = NO.exec(answer);
  if (no !== null) {
    const why = no.groups?.['why'];
    return { approved: false, reason: `the person said no${why === undefined ? '' : `: ${why}`}` };
  }
  const words = Object.keys(others) as Other[];
  return words.find((word) => [word, word.charAt(0)].includes(answer.toLowerCase())) ?? null;
}

export function isYes(typed: string): boolean {
  return YES.test(typed.trim());
}
