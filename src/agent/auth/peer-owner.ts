import { type EndPoint, rowKeys, type ScanSockets, type SocketRow } from './socket-table.ts';

/** Our end of a connection that a local process opened to us. */
export interface LocalConnection {
  local: EndPoint;
  remote: EndPoint;
  /** Inode of our own socket: distinguishes this connection from a later one between the same end points. */
  inode: number;
}

export interface PeerOwners {
  /** The uid that owns the peer's socket now; undefined when in doubt. Never rejects. */
  owner(connection: LocalConnection): Promise<number | undefined>;
}

// A scan can miss a row while rows around it come and go; three scans find every existing one.
const MAX_SCANS = 3;

interface Lookup {
  peer: readonly string[];
  own: readonly string[];
  inode: number;
  uid: number | undefined;
  scans: number;
  answered: boolean;
  resolve: (uid: number | undefined) => void;
}

const answer = (lookup: Lookup, uid: number | undefined): void => {
  lookup.answered = true;
  lookup.resolve(uid);
};

/**
 * Looks up the user at the other end of a loopback connection in the kernel's socket table. The peer's row counts only if it
 * is ESTABLISHED and held by a process (a row in TIME_WAIT shows uid 0 for any user), and only if our own socket is seen
 * ESTABLISHED after it: another process can reuse the pair of ports, but not while our end of the first connection exists.
 *
 * Lookups that arrive during a scan wait for the next one, so that many callers share one scan.
 */
export const createPeerOwners = (scan: ScanSockets, onError: (error: unknown) => void): PeerOwners => {
  let waiting: Lookup[] = [];
  let reading = false;

  const visit = (lookup: Lookup, key: string, row: SocketRow): void => {
    if (lookup.peer.includes(key)) {
      if (row.established && row.inode !== 0) lookup.uid = row.uid;
      return;
    }
    if (lookup.inode !== row.inode) return;
    if (!row.established) answer(lookup, undefined);
    else if (lookup.uid !== undefined) answer(lookup, lookup.uid);
  };

  const scanOnce = async (): Promise<void> => {
    const asked = waiting;
    waiting = [];
    const byKey = new Map<string, Lookup[]>();
    for (const lookup of asked)
      for (const key of [...lookup.peer, ...lookup.own]) byKey.set(key, [...(byKey.get(key) ?? []), lookup]);
    let failed = false;
    try {
      await scan(new Set(byKey.keys()), (key, row) => {
        for (const lookup of byKey.get(key) ?? []) if (!lookup.answered) visit(lookup, key, row);
      });
    } catch (error) {
      failed = true;
      onError(error);
    }
    for (const lookup of asked) {
      if (lookup.answered) continue;
      lookup.scans += 1;
      if (!failed && lookup.scans < MAX_SCANS) waiting.push(lookup);
      else answer(lookup, undefined);
    }
  };

  const run = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    while (waiting.length > 0) await scanOnce();
    reading = false;
  };

  return {
    owner: ({ local, remote, inode }) => {
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const [peer, own] = [rowKeys(remote, local), rowKeys(local, remote)];
      waiting.push({ peer, own, inode, uid: undefined, scans: 0, answered: false, resolve });
      void run();
      return promise;
    },
  };
};
