import type { Clock } from '../../../src/runtime/index.ts';
import type { Operation } from '../plan/plan.ts';
import type { Call } from './call.ts';

/** What a server or its store does to writes for a while. */
export type ServerOperation = Extract<Operation, { do: 'oversized' | 'crowd' | 'webhook' | 'etcd-full' }>;

/** How the server answers a call instead of executing it, or how long it takes before it does. */
export interface ServerTrouble {
  delayMs: number;
  refusal: { status: number; reason: string; message: string; retryAfterSeconds?: number } | undefined;
}

interface Active {
  operation: ServerOperation;
  /** Undefined until it concerns a call: its time begins with that one. */
  until: number | undefined;
  onEffect: () => void;
}

const isWrite = ({ verb }: Call): boolean => verb !== 'get' && verb !== 'list' && verb !== 'watch';

/** Of the calls of a crowded server, this share is served. */
const SERVED = 0.3;

export const createServerFaults = (time: Clock, random: () => number) => {
  let active: Active[] = [];
  const isActive = ({ until }: Active): boolean => until === undefined || until > time.now();

  const troubleBy = (operation: ServerOperation, call: Call): ServerTrouble | undefined => {
    const refuse = (status: number, reason: string, message: string): ServerTrouble => ({
      delayMs: 0,
      refusal: { status, reason, message },
    });
    switch (operation.do) {
      case 'oversized':
        return isWrite(call) && call.resource?.plural === operation.plural
          ? refuse(413, 'RequestEntityTooLarge', 'etcdserver: request is too large')
          : undefined;
      case 'etcd-full':
        return isWrite(call) ? refuse(500, '', 'etcdserver: mvcc: database space exceeded') : undefined;
      case 'webhook': {
        if (!isWrite(call) || call.resource?.plural !== operation.plural) return undefined;
        const timedOut = refuse(500, 'InternalError', 'failed calling webhook: context deadline exceeded');
        return { delayMs: operation.ms, refusal: operation.refuses ? timedOut.refusal : undefined };
      }
      case 'crowd': {
        if (random() < SERVED) return undefined;
        const { refusal } = refuse(429, 'TooManyRequests', 'too many requests, please try again later');
        return { delayMs: 0, refusal: refusal && { ...refusal, retryAfterSeconds: 1 } };
      }
    }
  };

  return {
    begin(operation: ServerOperation, onEffect: () => void): void {
      active.push({ operation, until: undefined, onEffect });
    },
    recover(): void {
      active = [];
    },
    /** Called once for each call that reaches the server. */
    of(call: Call): ServerTrouble | undefined {
      if (active.length > 0) active = active.filter(isActive);
      // Of several that concern it, the first one answers.
      let first: ServerTrouble | undefined;
      for (const each of active) {
        const trouble = troubleBy(each.operation, call);
        if (!trouble) continue;
        first ??= trouble;
        if (each.until !== undefined) continue;
        each.until = time.now() + each.operation.forMs;
        each.onEffect();
      }
      return first;
    },
    /** Most calls are refused. */
    isCrowded: (): boolean => active.some((each) => each.operation.do === 'crowd' && isActive(each)),
  };
};
export type ServerFaults = ReturnType<typeof createServerFaults>;
