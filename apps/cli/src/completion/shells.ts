import { script } from '@bomb.sh/tab';

import type { CommandContext } from '../process/context.ts';
import { DIRECTIVES } from './wanted.ts';

/**
 * `orion completion <shell>`: the script that asks `orion complete` what may follow, on stdout. That of the library for bash is not used: it needs
 * another package in the shell, offers no files, and runs the typed line through `eval`, redirections included, so that
 * Tab on `orion outputs extract > results.json --` empties the file.
 */
export async function completionCommand(context: CommandContext, shell: string): Promise<void> {
  if (shell === 'bash') await context.stdout.write(BASH);
  else script(shell, 'orion', 'orion');
}

/**
 * Words are put together again where readline cut them at `=` or `:`, from the cursor backwards. Written for bash 3.2,
 * which has neither `mapfile` nor `compopt`.
 */
const BASH = `# bash completion for orion
_orion() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() tail= value directive word i
  for ((i = COMP_CWORD; i > 0; i--)); do
    word=\${COMP_WORDS[i]}
    while [[ $line != *"$word" ]]; do word=\${word%?}; done
    line=\${line%"$word"}
    tail=$word$tail
    if [[ $line == *[![:blank:]] ]] && ((i > 1)); then continue; fi
    words=("$tail" "\${words[@]}")
    tail=
    line=\${line%"\${line##*[![:blank:]]}"}
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r value word; do
    case $value in
      :*) directive=\${value#:} ;;
      *) COMPREPLY+=("$value") ;;
    esac
  done < <(orion complete -- "\${words[@]}" 2>/dev/null)
  if ((\${directive:-0} & ${DIRECTIVES.folders})); then
    compopt -o dirnames +o default 2>/dev/null
  elif ((\${directive:-0} & ${DIRECTIVES.none})); then
    compopt +o default 2>/dev/null
  fi
}
complete -o default -F _orion orion
`;
