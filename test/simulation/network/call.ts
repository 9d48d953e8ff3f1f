import type { ObjectRef, Resource } from '../../../src/kube/index.ts';
import type { RefusalStatus } from './connection.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One call of a process. */
export interface Call {
  process: string;
  /** When it left, true time, epoch ms. */
  at: number;
  verb: Verb;
  /** Undefined: a raw path. */
  resource: Resource | undefined;
  ref: ObjectRef | undefined;
  body: unknown;
  options: object | undefined;
}

/** What becomes of one call, other than an answer. */
export type CallFault =
  | { kind: 'refuse'; status: RefusalStatus }
  /** It never arrives, and nobody says so: the caller's deadline ends it. */
  | { kind: 'lose-request' }
  /** It is carried out, and nobody says so. */
  | { kind: 'lose-answer' }
  /** It is carried out, and the answer breaks off in its middle. */
  | { kind: 'truncate' }
  | { kind: 'reset-request' }
  | { kind: 'reset-answer' }
  /** The process is stopped before the call leaves, or when it has been carried out, and goes on so much later. */
  | { kind: 'stop'; when: 'before' | 'after'; ms: number }
  /** The process dies before the call leaves, or when it has been carried out. */
  | { kind: 'crash'; when: 'before' | 'after' };
