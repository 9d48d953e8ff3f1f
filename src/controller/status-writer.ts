import { isDeepStrictEqual } from 'node:util';
import type { DaemonRolloutStatus, WrittenStatus } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { ControllerMetrics } from './observer.ts';
import { turnAfter } from './pacing.ts';
import type { RolloutEvents } from './rollout-events.ts';
import type { RolloutObject } from './rollout-object.ts';

/** What only informs people is written at most so often, and looked at no oftener: a status is as long as what is in flight. */
const STATUS_EVERY_MS = 1_000;

export interface StatusWriterOptions {
  object: RolloutObject;
  events: RolloutEvents;
  clock: Clock;
  metrics: ControllerMetrics;
}

/** Writes a DaemonRollout's status when it says something new, and tells as Events what changed. */
export const createStatusWriter = ({ object, events, clock, metrics }: StatusWriterOptions) => {
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** What we wrote, which the API server may give back in another form (a field that its CRD does not know, for one). */
  let sent: { status: DaemonRolloutStatus; version: string | undefined } | undefined;
  /** What Events have spoken of, which outlives the object's being read anew. */
  let told: DaemonRolloutStatus | undefined;
  return {
    /** When it is time to see whether a status that only informs has news. */
    dueAt: (): number => turnAfter(lookedAt, STATUS_EVERY_MS, clock.now()),
    /** `reserves`: slots are reserved by this write, which is made in any case. */
    async write(status: WrittenStatus, reserves: boolean, signal: AbortSignal): Promise<void> {
      const before = sent && sent.version === object.version ? sent.status : object.status;
      if (!reserves && isDeepStrictEqual(before, status)) {
        lookedAt = clock.now();
        return;
      }
      try {
        await object.write(status, { signal });
      } catch (error) {
        if (reserves) metrics.reserved?.('failed');
        throw error;
      }
      lookedAt = clock.now();
      sent = { status, version: object.version };
      if (reserves) metrics.reserved?.('written');
      metrics.statusWritten?.();
      events.statusWritten(told ?? before, status);
      told = status;
    },
    /** Others may write, and tell, from here on: what we told last says nothing about what they will have. */
    letGo(): void {
      told = undefined;
    },
  };
};
export type StatusWriter = ReturnType<typeof createStatusWriter>;
