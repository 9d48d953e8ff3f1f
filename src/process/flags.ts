import { type Clock, createLogger, type Logger, type LogLevel, OptionError } from '../runtime/index.ts';

/** The flag's value, which must be one of `known`. */
export const oneOf = <T extends string>(flag: string, text: string, known: readonly T[]): T => {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new OptionError(flag, `"${text}" is not known: give one of ${known.join(', ')}`);
  return found;
};

/** A number that `accepts`; `wanted` says which, and the remedy. */
export const number = (flag: string, text: string, wanted: string, accepts: (value: number) => boolean): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || !accepts(value))
    throw new OptionError(flag, `"${text}" is not ${wanted}`);
  return value;
};

/** `true` or `false`, in any case; `true` for a flag without a value. */
export const boolean = (flag: string, value: string | boolean): boolean => {
  if (typeof value === 'boolean') return value;
  return oneOf(flag, value.toLowerCase(), ['true', 'false']) === 'true';
};

/** Comma-separated names without duplicates. */
export const list = (flag: string, text: string): string[] => {
  const items = text.split(',').map((item) => item.trim());
  if (items.includes('')) throw new OptionError(flag, `"${text}" has an empty item: give comma-separated names`);
  return [...new Set(items)];
};

/** A DNS label (namespaces) or subdomain (object names), as Kubernetes defines them. */
export const objectName = (flag: string, text: string, form: 'label' | 'subdomain'): string => {
  const pattern = form === 'label' ? /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/ : /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;
  if (!pattern.test(text) || text.length > (form === 'label' ? 63 : 253))
    throw new OptionError(flag, `"${text}" cannot be a name: use lower-case letters, digits and dashes`);
  return text;
};

export const nonEmpty = (flag: string, text: string | undefined): string | undefined => {
  if (text === '') throw new OptionError(flag, 'is empty: give a value or leave the flag out');
  return text;
};

/** A value of the Host header, in lower case. */
export const hostHeader = (flag: string, text: string): string => {
  if (!/^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text))
    throw new OptionError(flag, `"${text}" is not a host: give NAME or NAME:PORT, without http://`);
  return text.toLowerCase();
};

/** The files of a server's certificate, both or none. */
export const certificateFiles = (flags: {
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
}): { certFile: string; keyFile: string } | undefined => {
  const certFile = nonEmpty('--tls-cert-file', flags.tlsCertFile);
  const keyFile = nonEmpty('--tls-private-key-file', flags.tlsPrivateKeyFile);
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) throw new OptionError('--tls-cert-file', 'is required with --tls-private-key-file');
  if (keyFile === undefined) throw new OptionError('--tls-private-key-file', 'is required with --tls-cert-file');
  return { certFile, keyFile };
};

/** Log flags of every process. */
export interface LogOptions {
  /** Default `info`. */
  logLevel: LogLevel;
  /** Default `text` on a terminal, otherwise `json`. */
  logFormat: 'json' | 'text';
}

export const resolveLog = (
  flags: { logLevel?: string; logFormat?: string },
  { terminal }: { terminal: boolean },
): LogOptions => ({
  logLevel: oneOf('--log-level', flags.logLevel ?? 'info', ['debug', 'info', 'warn', 'error']),
  logFormat: oneOf('--log-format', flags.logFormat ?? (terminal ? 'text' : 'json'), ['json', 'text']),
});

/** The log of a process, on its stderr. */
export const createProcessLogger = (
  { logLevel, logFormat }: LogOptions,
  host: { stderr: (text: string) => void },
  clock: Clock,
): Logger =>
  createLogger({
    write: (line) => host.stderr(`${line}\n`),
    now: () => clock.now(),
    level: logLevel,
    format: logFormat,
  });

export interface BindAddress {
  /** Undefined: all interfaces. */
  host: string | undefined;
  /** 0: any free port. */
  port: number;
}

/** `host:port`, `:port` (all interfaces) or `[::1]:port`; undefined for `0`, which disables it. */
export const parseBindAddress = (flag: string, text: string): BindAddress | undefined => {
  if (text === '0') return undefined;
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new OptionError(flag, `"${text}" is not an address: give host:port, :port for all interfaces, or 0 for none`);
  return { host: match[1] ?? (match[2] || undefined), port };
};

export const formatAddress = ({ host, port }: BindAddress): string =>
  `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`;

/** Whether one listening socket can serve both. Two addresses with port 0 mean two sockets. */
export const sameAddress = (a: BindAddress, b: BindAddress): boolean =>
  a.port !== 0 && a.port === b.port && a.host === b.host;
