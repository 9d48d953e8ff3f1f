import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { errnoOf } from '../errno.ts';

/** One end of a TCP connection. */
export interface EndPoint {
  address: string;
  port: number;
}

/** A row of the kernel's tables of TCP sockets. */
export interface SocketRow {
  established: boolean;
  uid: number;
  /** 0: no process holds the socket. */
  inode: number;
}

// The network namespace of this process, even where /proc shows processes only.
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const CHUNK_BYTES = 64 * 1024;

/** State number of the kernel. TIME_WAIT (06) rows have neither owner nor inode and show both as 0. */
const ESTABLISHED = '01';

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

/** The kernel prints each 32-bit word of an address as a number in the machine's byte order. */
const hexWords = (bytes: readonly number[]): string => {
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4);
    if (endianness() === 'LE') word.reverse();
    words.push(word.map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(''));
  }
  return words.join('');
};

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const LOOPBACK_IPV6 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/** The IPv4 address of `::ffff:127.0.0.1`; other addresses unchanged. */
const unmapped = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;

/** Whether an address, as `node:net` prints it, is a loopback address. */
export const isLoopback = (address: string): boolean => address === '::1' || /^127(\.\d+){3}$/.test(unmapped(address));

/** The forms in which the tables can print a loopback address; an IPv4 socket can be in either table. */
const bytesOf = (address: string): number[][] => {
  if (!isLoopback(address)) return [];
  if (address === '::1') return [LOOPBACK_IPV6];
  const bytes = unmapped(address).split('.').map(Number);
  return [bytes, [...MAPPED, ...bytes]];
};

/** The forms in which the tables can print both ends of a loopback connection; empty for other connections. */
export const rowKeys = (local: EndPoint, remote: EndPoint): string[] => {
  const to = bytesOf(remote.address);
  return bytesOf(local.address).flatMap((from, form) => {
    const other = to[form];
    return other === undefined
      ? []
      : [`${hexWords(from)}:${hexPort(local.port)} ${hexWords(other)}:${hexPort(remote.port)}`];
  });
};

/** `   1: 0100007F:281B 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 12345 ...` */
const readLine = (line: string): { key: string; row: SocketRow } | undefined => {
  const [, local, remote, state, , , , uid, , inode] = line.trim().split(/\s+/);
  if (local === undefined || remote === undefined || inode === undefined) return undefined;
  if (!/^\d+$/.test(uid ?? '') || !/^\d+$/.test(inode)) return undefined;
  return {
    key: `${local} ${remote}`,
    row: { established: state === ESTABLISHED, uid: Number(uid), inode: Number(inode) },
  };
};

/**
 * Calls `visit` with the kernel's TCP sockets whose ends are in `keys`, in the order of the tables: a later row was read at a
 * later time. Reads the tables in chunks, because a busy node has tens of thousands of rows.
 */
export type ScanSockets = (keys: ReadonlySet<string>, visit: (key: string, row: SocketRow) => void) => Promise<void>;

export const scanText = (
  text: string,
  keys: ReadonlySet<string>,
  visit: (key: string, row: SocketRow) => void,
): void => {
  for (const line of text.split('\n')) {
    // The ends come first and have fixed widths, so other rows are skipped cheaply.
    const from = line.indexOf(': ') + 2;
    const to = line.indexOf(' ', line.indexOf(' ', from) + 1);
    if (from < 2 || to < 0 || !keys.has(line.slice(from, to))) continue;
    const read = readLine(line);
    if (read !== undefined && keys.has(read.key)) visit(read.key, read.row);
  }
};

export const scanKernelSockets: ScanSockets = async (keys, visit) => {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (const table of TABLES) {
    // Kernels without IPv6 have no second table.
    const file = await open(table, 'r').catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT' && table !== TABLES[0]) return undefined;
      throw error;
    });
    if (file === undefined) continue;
    try {
      let rest = '';
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
        if (bytesRead === 0) break;
        const text = rest + buffer.toString('latin1', 0, bytesRead);
        const end = text.lastIndexOf('\n') + 1;
        scanText(text.slice(0, end), keys, visit);
        rest = text.slice(end);
      }
      scanText(rest, keys, visit);
    } finally {
      await file.close();
    }
  }
};
