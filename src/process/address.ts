import { OptionError } from '../runtime/index.ts';

export interface BindAddress {
  /** Undefined: all interfaces. */
  host: string | undefined;
  /** 0: any free port. */
  port: number;
}

/** `host:port`, `:port` (all interfaces) or `[::1]:port`; undefined for `0`, which turns the address off. */
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

/** Whether one listening socket serves both. Two free ports are two sockets: the caller asked for each. */
export const sameAddress = (a: BindAddress, b: BindAddress): boolean =>
  a.port !== 0 && a.port === b.port && a.host === b.host;
