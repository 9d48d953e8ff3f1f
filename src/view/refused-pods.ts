import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { events, isKubeError, listAll } from '../kube/index.ts';
import type { Connection } from './connection.ts';
import type { Reading } from './kinds/kind.ts';
import { native } from './kinds/native.ts';

/** Refusals back off for up to a quarter of an hour, and an Event is written for each. */
const RECENT_MS = 20 * 60_000;

/** When an Event was last written, epoch ms. */
export const lastSeen = ({ series, eventTime, lastTimestamp, metadata }: Event): number =>
  Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '1970-01-01');

/**
 * Why the API server refuses the pods of a native DaemonSet: Kubernetes' own controller creates them, and says so in Events
 * only. Undefined if no node lacks a pod, if nothing was said lately, and without the right to read Events.
 */
const findRefusal = async (
  { client, env, namespace }: Connection,
  { kind, ledger, view }: Reading,
): Promise<string | undefined> => {
  const { causes } = ledger.tally;
  if (kind !== native || (causes.get('no-pod') ?? 0) + (causes.get('no-pod-yet') ?? 0) === 0) return undefined;
  try {
    const fieldSelector = `involvedObject.uid=${view.uid},reason=FailedCreate`;
    const found = await listAll(client, events, { namespace, fieldSelector });
    const [newest] = found.toSorted((a, b) => lastSeen(b) - lastSeen(a));
    return newest && env.clock.now() - lastSeen(newest) <= RECENT_MS ? newest.message : undefined;
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
};

/** The reading with what the controller of the pods says of those that it cannot create. */
export const withRefusedPods = async (connection: Connection, reading: Reading): Promise<Reading> => {
  const refusal = await findRefusal(connection, reading);
  if (refusal === undefined) return reading;
  return { ...reading, notes: [...reading.notes, `The DaemonSet controller reports: ${refusal}`] };
};
