import { COMPLETE } from '../../program.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

const bash = `# Completion of edgeset for bash: source <(edgeset completion bash)
_edgeset() {
  local line word before= prefix rest=$COMP_LINE words=()
  # Bash also splits at ":" and "@", which are in names of contexts. It replaces what follows the last ":", or the last "@" with it.
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ -n $word && $rest == "$word"* && ( $word == [:@]* || $before == *[:@] ) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    rest=\${rest#*"$word"} before=$word
  done
  prefix=\${words[\${#words[@]}-1]}
  if [[ $word == *[!:@]* ]]; then prefix=\${prefix%"$word"}; fi
  prefix=\${prefix%@}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :* ]]; then
      # Bit 4: no names of files instead. Bash 3 lacks compopt, and offers them.
      if (( \${line#:} & 4 )); then compopt +o default 2>/dev/null; fi
    else
      line=\${line%%$'\\t'*}
      COMPREPLY+=("\${line#"$prefix"}")
    fi
  done < <(edgeset ${COMPLETE} "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _edgeset edgeset
`;

const zsh = `#compdef edgeset
# Completion of edgeset for zsh: source <(edgeset completion zsh), after compinit
_edgeset() {
  local -a lines candidates
  local line
  lines=("\${(@f)$(edgeset ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local directive=\${lines[-1]#:}
  for line in "\${(@)lines[1,-2]}"; do
    candidates+=("\${\${line//:/\\\\:}/$'\\t'/:}")
  done
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  if (( $#candidates )); then
    _describe 'edgeset' candidates
  elif ! (( directive & 4 )); then
    _files
  fi
}
compdef _edgeset edgeset
`;

const fish = `# Completion of edgeset for fish: edgeset completion fish | source
function __edgeset_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l prefix (string match -r -- '^-[^=]*=' "$token")
    for line in (edgeset ${COMPLETE} $words[2..-1] "$token" 2>/dev/null)
        string match -q -- ':*' $line; or echo -- "$prefix$line"
    end
end
complete -c edgeset -f -a '(__edgeset_complete)'
complete -c edgeset -l kubeconfig -r -F
`;

const scripts: Record<Shell, string> = { bash, zsh, fish };

export const completionScript = (shell: Shell): string => scripts[shell];
