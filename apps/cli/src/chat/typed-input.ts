/** What a typed text means: a prompt, or a command that begins with a slash. */
export type TypedInput =
  | { readonly kind: 'empty' }
  | { readonly kind: 'prompt'; readonly typed: string; readonly text: string }
  | {
      readonly kind: 'command';
      readonly typed: string;
      /** Without the slash. */
      readonly name: string;
      /** What follows it, without blanks around it. */
      readonly argument: string;
    };

const COMMAND = /^\/(?<name>[^\s/]+)(?:\s+(?<argument>.*))?$/su;

/** `//` begins a prompt with a slash; a path such as `/etc/hosts` is no command. */
export function readTyped(typed: string): TypedInput {
  const text = typed.trim();
  if (text === '') return { kind: 'empty' };
  if (text.startsWith('//')) return { kind: 'prompt', typed, text: text.slice(1) };
  const found = COMMAND.exec(text)?.groups;
  const name = found?.['name'];
  if (name === undefined) return { kind: 'prompt', typed, text: typed };
  return { kind: 'command', typed, name, argument: (found?.['argument'] ?? '').trim() };
}
