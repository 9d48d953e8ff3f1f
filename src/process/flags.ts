import { type LogLevel, OptionError } from '../runtime/index.ts';

/** The one of `known` that was typed. */
export const oneOf = <T extends string>(flag: string, text: string, known: readonly T[]): T => {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new OptionError(flag, `"${text}" is not known: give one of ${known.join(', ')}`);
  return found;
};

/** Names with commas between them, each once. */
export const list = (flag: string, text: string): string[] => {
  const items = text.split(',').map((item) => item.trim());
  if (items.includes(''))
    throw new OptionError(flag, `"${text}" has an empty item: give names with commas between them`);
  return [...new Set(items)];
};

/** Kubernetes' DNS labels (namespaces) and subdomains (object names). */
export const objectName = (flag: string, text: string, form: 'label' | 'subdomain'): string => {
  const pattern = form === 'label' ? /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/ : /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;
  if (!pattern.test(text) || text.length > (form === 'label' ? 63 : 253))
    throw new OptionError(flag, `"${text}" cannot be a name: give lower-case letters, digits and dashes`);
  return text;
};

export const nonEmpty = (flag: string, text: string | undefined): string | undefined => {
  if (text === '') throw new OptionError(flag, 'is empty: give a value or leave the flag out');
  return text;
};

/** How a process logs, whichever it is. */
export interface LogOptions {
  /** Default `info`. */
  logLevel: LogLevel;
  /** Default `text` at a terminal, else `json`. */
  logFormat: 'json' | 'text';
}

export const resolveLog = (
  flags: { logLevel?: string; logFormat?: string },
  { terminal }: { terminal: boolean },
): LogOptions => ({
  logLevel: oneOf('--log-level', flags.logLevel ?? 'info', ['debug', 'info', 'warn', 'error']),
  logFormat: oneOf('--log-format', flags.logFormat ?? (terminal ? 'text' : 'json'), ['json', 'text']),
});
