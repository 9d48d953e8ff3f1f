import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import { isPodOf } from '../state/cluster-state.ts';
import { reservationsIn } from '../updates/sender.ts';

const WINDOW_MS = 10_000;
/** Writes to one object within the window: a status a second, and what users, and nodes that come and go, cause. */
const MAX_IN_WINDOW = 40;
/** In addition for each node, which may be in its own wave: a reservation, and another before an in-place update. */
const MORE_FOR_A_NODE = 2;
/**
 * In total. For a pod: the gate is closed, the pod is patched, the gate is opened, and a fence, or its preDelete hook is
 * called; its images are requested before; and both are reported. For a wave: its reservation, and the status of both
 * objects. For each change to the cluster: it is observed, reported and reverted.
 */
const FOR_A_POD = 6;
const FOR_A_WAVE = 3;
const FOR_A_CHANGE = 4;

/** S15: how much managers write, compared to what there was to do. */
export const createWriteRateCheck = ({ report, now, actual, daemonSet, rolloutName }: CheckContext): Check => {
  const { check, violation, figure } = report;
  const recent = new Map<string, number[]>();
  const pods = new Set<string>();
  let writes = 0;
  let waves = 0;
  let events = 0;
  let changes = 0;
  let updates = 0;

  const isOurs = ({ resource, ref, body }: Call): boolean => {
    switch (resource?.plural) {
      case 'pods':
        return (
          actual.pods.values().some(({ name }) => name === ref?.name) || isPodOf(body as Pod | undefined, daemonSet)
        );
      case 'daemonrollouts':
        return ref?.name === rolloutName;
      case 'daemonsets':
        return ref?.name === daemonSet.name && resource.group === daemonSet.group;
      case undefined:
      default:
        return false;
    }
  };
  const isAbout = (body: unknown): boolean => {
    const { involvedObject: regarding } = (body ?? {}) as { involvedObject?: { name?: string; apiVersion?: string } };
    return regarding?.name === daemonSet.name && regarding.apiVersion?.startsWith(`${daemonSet.group}/`) === true;
  };
  const keyOf = ({ resource, ref }: Call): string => `${resource?.plural} ${ref?.name}`;
  return {
    onOperation() {
      changes += 1;
    },
    onCommit({ resource, object, previous }) {
      // Each pod that a previous owner releases is adopted.
      const wasOwned = (previous?.metadata.ownerReferences?.length ?? 0) > 0;
      if (resource.plural === 'pods' && wasOwned && !object.metadata.ownerReferences?.length) changes += 1;
      if (resource.plural === 'pods' && actual.pods.has(object.metadata.uid)) pods.add(object.metadata.uid);
      // The status reports nodes that come and go, too.
      if (resource.plural === 'nodes') changes += 1;
    },
    onUpdateExecuted() {
      updates += 1;
    },
    onExecuted(call) {
      const plural = call.resource?.plural;
      if (plural === 'events' && isAbout(call.body)) events += 1;
      if (!isOurs(call)) return;
      writes += 1;
      if (plural === 'daemonrollouts' && reservationsIn(call.body).some((each) => !each.carriedOut)) waves += 1;
      const key = keyOf(call);
      const times = (recent.get(key) ?? []).filter((at) => now() - at < WINDOW_MS);
      times.push(now());
      recent.set(key, times);
      check('S15');
      if (times.length > MAX_IN_WINDOW + MORE_FOR_A_NODE * actual.nodes.size)
        violation('S15', `${key} was written ${times.length} times within ${WINDOW_MS / 1000} s`);
      figure('writes to an object in 10 s', times.length, 'most');
    },
    onConverged() {
      const maxWrites = FOR_A_POD * (pods.size + updates) + FOR_A_WAVE * waves + FOR_A_CHANGE * changes;
      check('S15');
      figure('writes', writes);
      figure('Events', events);
      figure('writes in percent of the bound', (100 * writes) / maxWrites, 'most');
      if (writes > maxWrites)
        violation('S15', `${writes} writes for ${pods.size} pods, ${updates} updates, ${waves} waves`);
      const maxEvents = pods.size + updates + 4 * changes;
      figure('Events in percent of the bound', (100 * events) / maxEvents, 'most');
      if (events > maxEvents) violation('S15', `${events} Events for ${pods.size} pods and ${updates} updates`);
    },
  };
};
