import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Call } from '../network/call.ts';
import type { Check, CheckContext } from './check.ts';
import { isPodOf } from './cluster-state.ts';

const WINDOW_MS = 10_000;
/** Writes to one object within the window: a status a second, and what a user and machines that come and go give reason for. */
const MOST_IN_WINDOW = 40;
/** And for each node, since each may be in a wave of its own: a reservation, and one more before a pod is changed in place. */
const MORE_FOR_A_NODE = 2;
/**
 * In all: of a pod, that its gate is shut, it is changed, the gate opened, and a fence, or that it goes past its hook, with
 * its images asked for before, and that both is said; of a wave, its reservation and what
 * it leaves to be said of both objects; of each step, that it is noticed, said and taken back.
 */
const A_POD = 6;
const A_WAVE = 3;
const A_HAPPENING = 4;

interface Reserving {
  status?: { reservations?: readonly { carriedOut?: boolean }[] };
}

/** S15: how much managers write, by what there was to do. */
export const createWriteRateCheck = ({ report, now, actual, daemonSet, rolloutName }: CheckContext): Check => {
  const { check, violation, figure } = report;
  const recent = new Map<string, number[]>();
  const pods = new Set<string>();
  let writes = 0;
  let waves = 0;
  let events = 0;
  let steps = 0;
  let acts = 0;

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
    const { regarding } = (body ?? {}) as { regarding?: { name?: string; apiVersion?: string } };
    return regarding?.name === daemonSet.name && regarding.apiVersion?.startsWith(`${daemonSet.group}/`) === true;
  };
  const keyOf = ({ resource, ref }: Call): string => `${resource?.plural} ${ref?.name}`;
  return {
    onOperation() {
      steps += 1;
    },
    onCommit({ resource, object }) {
      if (resource.plural === 'pods' && actual.pods.has(object.metadata.uid)) pods.add(object.metadata.uid);
      // Nodes that come and go are told of, too.
      if (resource.plural === 'nodes') steps += 1;
    },
    onUpdateExecuted() {
      acts += 1;
    },
    onExecuted(call) {
      const plural = call.resource?.plural;
      if (plural === 'events' && isAbout(call.body)) events += 1;
      if (!isOurs(call)) return;
      writes += 1;
      if (
        plural === 'daemonrollouts' &&
        (call.body as Reserving)?.status?.reservations?.some((each) => !each.carriedOut)
      )
        waves += 1;
      const key = keyOf(call);
      const times = (recent.get(key) ?? []).filter((at) => now() - at < WINDOW_MS);
      times.push(now());
      recent.set(key, times);
      check('S15');
      if (times.length > MOST_IN_WINDOW + MORE_FOR_A_NODE * actual.nodes.size)
        violation('S15', `${key} was written ${times.length} times within ${WINDOW_MS / 1000} s`);
      figure('most writes to an object in 10 s', times.length, 'most');
    },
    onConverged() {
      const most = A_POD * (pods.size + acts) + A_WAVE * waves + A_HAPPENING * steps;
      check('S15');
      figure('writes', writes);
      figure('Events', events);
      figure('writes in percent of the bound', (100 * writes) / most, 'most');
      if (writes > most) violation('S15', `${writes} writes for ${pods.size} pods, ${acts} acts, ${waves} waves`);
      const mostEvents = pods.size + acts + 4 * steps;
      figure('Events in percent of the bound', (100 * events) / mostEvents, 'most');
      if (events > mostEvents) violation('S15', `${events} Events for ${pods.size} pods and ${acts} acts`);
    },
  };
};
