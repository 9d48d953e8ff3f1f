import type { Clock } from '../../../src/runtime/index.ts';
import type { Call } from './call.ts';

/** A call that was lost is sent again within this time. */
const REPEATED_WITHIN_MS = 30_000;

/** Follows the calls of one process whose response is still to come, or never came. */
export const followUnanswered = (time: Clock) => {
  const open = new Set<Call>();
  let lastLostAt = Number.NEGATIVE_INFINITY;
  return {
    onSend: (call: Call): void => void open.add(call),
    onResponse: (call: Call): void => void open.delete(call),
    /** Without a status there was no response. */
    onFailure(call: Call, status: number | undefined): void {
      open.delete(call);
      if (status === undefined) lastLostAt = time.now();
    },
    /** A call has no response yet, or had none and may be sent again. */
    areAny: (): boolean => open.size > 0 || time.now() - lastLostAt < REPEATED_WITHIN_MS,
  };
};
export type Unanswered = ReturnType<typeof followUnanswered>;
