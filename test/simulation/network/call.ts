import type { ObjectRef, Resource } from '../../../src/kube/index.ts';
import type { RefusalStatus } from './connection.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One call of a process. */
export interface Call {
  process: string;
  /** When it was sent, actual time, epoch ms. */
  at: number;
  verb: Verb;
  /** Undefined: a raw path. */
  resource: Resource | undefined;
  ref: ObjectRef | undefined;
  body: unknown;
  options: object | undefined;
}

/** How one call fails. */
export type CallFault =
  | { kind: 'refuse'; status: RefusalStatus }
  /** It never arrives, silently: the caller times out. */
  | { kind: 'lose-request' }
  /** It is executed, and the response is lost. */
  | { kind: 'lose-answer' }
  /** It is executed, and the response is cut short. */
  | { kind: 'truncate' }
  | { kind: 'reset-request' }
  | { kind: 'reset-answer' }
  /** The process is stopped before the call is sent, or after it was executed, and continues this much later. */
  | { kind: 'stop'; when: 'before' | 'after'; ms: number }
  /** The process dies before the call is sent, or after it was executed. */
  | { kind: 'crash'; when: 'before' | 'after' };
