/** An invalid value of a flag. The message names the flag and what to do. */
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

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Milliseconds of a duration such as `15` or `1.5` (seconds), `15s`, `500ms`, `1m30s` or `2h`, the formats of other
 * controllers. Throws an `OptionError` for anything else and for zero.
 */
export const parseDuration = (flag: string, text: string): number => {
  const asSeconds = /^\d{1,15}(\.\d{1,15})?$/.test(text);
  const parts = asSeconds ? [[text, text, 's']] : [...text.matchAll(/(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h)/g)];
  const read = parts.map(([whole]) => whole).join('');
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0);
  if (read !== text || total <= 0)
    throw new OptionError(flag, `"${text}" is not a duration: give seconds or a form such as 15s, 500ms or 1m30s`);
  return total;
};
