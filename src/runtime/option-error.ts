/** A flag's value that cannot be used. The message names the flag and the cure. */
export class OptionError extends Error {
  readonly code = 'InvalidOption';
  /** As typed, with its dashes. */
  readonly flag: string;

  constructor(flag: string, problem: string) {
    super(`${flag}: ${problem}`);
    this.name = 'OptionError';
    this.flag = flag;
  }
}
