import { type EndPoint, rowKeys, type ScanSockets, type SocketRow } from './socket-table.ts';

/** Our end of a connection that a local process opened to us. */
export interface LocalConnection {
  local: EndPoint;
  remote: EndPoint;
  /** Of our own socket: tells this connection from a later one between the same ends. */
  inode: number;
}

export interface PeerOwners {
  /** The uid that owns the peer's socket now; undefined when that is in doubt. Never rejects. */
  owner(connection: LocalConnection): Promise<number | undefined>;
}

// A row can be missed while its neighbours come and go; who is there is found in one of three passes.
const PASSES = 3;

interface Question {
  peer: readonly string[];
  own: readonly string[];
  inode: number;
  uid: number | undefined;
  passes: number;
  answered: boolean;
  resolve: (uid: number | undefined) => void;
}

const answer = (question: Question, uid: number | undefined): void => {
  question.answered = true;
  question.resolve(uid);
};

/**
 * Looks up who is at the other end of a loopback connection, in the kernel's table of sockets. The peer's row counts only
 * when it is ESTABLISHED and held by a process (a row in TIME_WAIT says uid 0, whoever it was), and only when our own
 * socket is seen ESTABLISHED after it: the pair of ports can belong to another process by then, but not while our
 * end of the first connection lives.
 *
 * Questions that come while the tables are read wait for the next pass, so that many callers cost one reader.
 */
export const createPeerOwners = (scan: ScanSockets, onError: (error: unknown) => void): PeerOwners => {
  let waiting: Question[] = [];
  let reading = false;

  const see = (question: Question, key: string, row: SocketRow): void => {
    if (question.peer.includes(key)) {
      if (row.established && row.inode !== 0) question.uid = row.uid;
      return;
    }
    if (question.inode !== row.inode) return;
    if (!row.established) answer(question, undefined);
    else if (question.uid !== undefined) answer(question, question.uid);
  };

  const pass = async (): Promise<void> => {
    const asked = waiting;
    waiting = [];
    const byKey = new Map<string, Question[]>();
    for (const question of asked)
      for (const key of [...question.peer, ...question.own]) byKey.set(key, [...(byKey.get(key) ?? []), question]);
    let failed = false;
    try {
      await scan(new Set(byKey.keys()), (key, row) => {
        for (const question of byKey.get(key) ?? []) if (!question.answered) see(question, key, row);
      });
    } catch (error) {
      failed = true;
      onError(error);
    }
    for (const question of asked) {
      if (question.answered) continue;
      question.passes += 1;
      if (!failed && question.passes < PASSES) waiting.push(question);
      else answer(question, undefined);
    }
  };

  const run = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    while (waiting.length > 0) await pass();
    reading = false;
  };

  return {
    owner: ({ local, remote, inode }) => {
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const [peer, own] = [rowKeys(remote, local), rowKeys(local, remote)];
      waiting.push({ peer, own, inode, uid: undefined, passes: 0, answered: false, resolve });
      void run();
      return promise;
    },
  };
};
