/**
 * A command of `kubectl edgeset` that does what a remedy says, or for `edit` one of kubectl. Each front end prints it as it is called
 * there.
 */
export type RemedyCommand =
  | { verb: 'undo' | 'resume' }
  | { verb: 'approve'; stage: string }
  | { verb: 'edit'; object: string }
  | { verb: 'set'; flag: 'max-unavailable' | 'partition'; value: string };

export interface DaemonSetName {
  short: 'ds' | 'ads';
  namespace: string;
  name: string;
}

const flagOf = (command: Exclude<RemedyCommand, { verb: 'edit' }>): string => {
  switch (command.verb) {
    case 'approve':
      return ` --stage ${command.stage}`;
    case 'set':
      return ` --${command.flag} ${command.value}`;
    case 'undo':
    case 'resume':
      return '';
  }
};

/** What follows the name of the program, without the namespace: `approve ds/web --stage canary`. */
export const commandWords = (command: RemedyCommand, { short, name }: Pick<DaemonSetName, 'short' | 'name'>): string =>
  command.verb === 'edit' ? `edit ${command.object}` : `${command.verb} ${short}/${name}${flagOf(command)}`;

/** `Run "kubectl edgeset undo ds/web -n shop" or "kubectl edgeset resume ds/web -n shop".`; empty for none. */
export const runText = (typed: readonly string[]): string =>
  typed.length === 0 ? '' : `Run ${typed.map((one) => `"${one}"`).join(' or ')}.`;

/** The same where nobody has called a command yet: in conditions, Events and notifications. */
export const runHere = (commands: readonly RemedyCommand[] = [], daemonSet: DaemonSetName): string =>
  runText(commands.map((command) => `kubectl edgeset ${commandWords(command, daemonSet)} -n ${daemonSet.namespace}`));
