export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields of a log line. `error` may be any thrown value: its message, code and cause are written, not its stack. */
export type LogFields = Record<string, unknown>;

/** A structured logger. `with` returns one that adds fields to every line. */
export interface Logger {
  debug(msg: string, fields?: LogFields): void;
  info(msg: string, fields?: LogFields): void;
  warn(msg: string, fields?: LogFields): void;
  error(msg: string, fields?: LogFields): void;
  with(fields: LogFields): Logger;
}

const rank: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** What was thrown, for people: the message of an error, and anything else as text. */
export const errorText = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

const plainError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${code}${cause}`;
};

/** Fields may contain text of servers and registries, which must not start a line or control the terminal. */
const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`,
  );

export interface LoggerOptions {
  /** Receives one whole line without its newline. */
  write: (line: string) => void;
  now: () => number;
  /** Lowest level to write. Default `info`. */
  level?: LogLevel;
  /** `json`: one object per line; `text`: for terminals. Default `json`. */
  format?: 'json' | 'text';
}

/** A logger that writes one line per call. */
export const createLogger = (options: LoggerOptions, bound: LogFields = {}): Logger => {
  const { write, now, level: lowest = 'info', format = 'json' } = options;
  const at =
    (level: LogLevel) =>
    (msg: string, fields: LogFields = {}): void => {
      if (rank[level] < rank[lowest]) return;
      const all = { ...bound, ...fields };
      if ('error' in all) all.error = plainError(all.error);
      const ts = new Date(now()).toISOString();
      if (format === 'json') {
        write(JSON.stringify({ ts, level, msg, ...all }));
        return;
      }
      const tail = Object.entries(all)
        .map(
          ([key, value]) =>
            ` ${key}=${printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'))}`,
        )
        .join('');
      write(`${ts.slice(11, 23)} ${level.padEnd(5)} ${msg}${tail}`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => createLogger(options, { ...bound, ...fields }),
  };
};

/** Drops every line. */
export const silentLogger: Logger = createLogger({ write: () => undefined, now: () => 0 });
