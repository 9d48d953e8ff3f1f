import type { Call } from '../network/call.ts';
import type { Operation } from '../plan/plan.ts';
import type { Check, CheckContext } from './check.ts';
import { isEligible, type PodState } from './cluster-state.ts';
import type { ObservedNode } from './process-view.ts';
import { type AnyDaemonSet, nodesOf, termsOf } from './terms.ts';

export interface ProgressOptions {
  /** Who believes that it leads. */
  believers: () => readonly string[];
  /** Nodes that count against a version, as a process was told. */
  against: (
    process: string,
    rollout: number,
    hash: string | undefined,
  ) => { failed: readonly string[]; away: readonly string[] };
  /** By the cluster's actual. */
  isInFlight: (node: string) => boolean;
}

/** An act follows so soon where nothing is in its way. */
const PROMPT_MS = 1_000;
/** What went wrong is tried again after so long at most. */
const RECOVERY_MS = 40_000;
/** A template that was refused is tried again by then: what refuses it seldom changes. */
const REFUSED_MS = 310_000;
/** Who has begun to lead, or to watch anew, has read everything by then. */
const READ_WITHIN_MS = 8_000;
/** An event that was held back is there by then, and a watch that ended is open again. */
const WATCH_RECOVERY_MS = 130_000;
/** A watch that brings nothing any more is given up by then. */
const SILENCE_MS = 420_000;
/** A reservation is carried out, or given back, within so long of a leader that is well. */
const SETTLED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;

const TROUBLE: ReadonlyMap<Operation['do'], number> = new Map([
  ['lag', WATCH_RECOVERY_MS],
  ['disturb', WATCH_RECOVERY_MS],
  ['restart-api', WATCH_RECOVERY_MS],
  ['cut', WATCH_RECOVERY_MS],
  ['native', RECOVERY_MS],
  ['recreate-set', RECOVERY_MS],
  ['strategy', RECOVERY_MS],
]);

const HOLDING = /edgeset\.io\/(partition|predownload|node-selector|topology-key)|kruise\.io\/image-predownload/;

interface Reservation {
  node: string;
  podUID: string;
  rollout: number;
  carriedOut?: boolean;
}

/** Nothing but budget and pause has a say in when nodes are updated. */
const hasNoOtherHold = ({ metadata, spec }: AnyDaemonSet): boolean => {
  const annotations = metadata?.annotations ?? {};
  const { partition = 0, selector } = spec?.updateStrategy?.rollingUpdate ?? {};
  const isAdvanced = spec?.updateStrategy?.type !== 'OnDelete';
  const model = annotations['apps.openyurt.io/update-strategy'];
  return (
    (isAdvanced ? model === undefined : model === 'auto') &&
    Number.parseInt(String(partition), 10) === 0 &&
    selector === undefined &&
    spec?.lifecycle === undefined &&
    Object.keys(annotations).every((key) => !HOLDING.test(key))
  );
};

interface Waiting {
  free: number;
  candidates: readonly string[];
  returned: boolean;
  offline: boolean;
}

/**
 * L2, L3, L4, L5, L7: as long as a leader is well, there is a free slot and a node that wants it, and nothing holds the
 * rollout, an act follows within a second. Judged by what the leader was told.
 */
export const createProgressCheck = (
  context: CheckContext,
  { believers, against, isInFlight }: ProgressOptions,
): Check => {
  const { report, actual, now, viewOf, clockOf, settleMs, processes, rolloutName } = context;
  const { check, violation, figure } = report;
  /** Before this nothing is expected. */
  let patientUntil = 0;
  let lastLook = 0;
  let wasWell = false;
  let waiting: Waiting | undefined;
  let since = 0;
  let lost = false;
  let leader: string | undefined;
  let halted = false;
  /** Reservations that are not known to be carried out, by how long a leader could have seen to them, ms. */
  const open = new Map<string, number>();
  /** Calls without an answer, by process. */
  const inTheAir = new Map<string, Set<Call>>();

  const bePatient = (ms: number): void => {
    patientUntil = Math.max(patientUntil, now() + ms);
    waiting = undefined;
  };

  /** The leader, when nothing keeps it from its work. */
  const wellLeader = (): string | undefined => {
    const [only, ...others] = believers();
    const state = processes().find(({ name }) => name === only);
    if (!state?.running || !state.up || others.length > 0) {
      bePatient(RECOVERY_MS);
      leader = undefined;
      return undefined;
    }
    if (only !== leader) bePatient(READ_WITHIN_MS);
    leader = only;
    for (const call of inTheAir.get(state.name) ?? []) if (now() - call.at > PROMPT_MS) bePatient(RECOVERY_MS);
    return now() >= patientUntil ? leader : undefined;
  };

  const works = (pod: PodState, at: number, minReadyMs: number): boolean =>
    !pod.terminating && pod.readySince !== undefined && at - pod.readySince >= minReadyMs;

  /** What waits for the leader, by what it was told. */
  const whatWaits = (process: string): Waiting | undefined => {
    const view = viewOf(process);
    const { daemonSet } = view;
    const { target } = actual;
    if (!daemonSet || target === undefined || halted) return undefined;
    if (daemonSet.metadata?.uid !== actual.daemonSet?.metadata?.uid) return undefined;
    if (daemonSet.metadata?.generation !== actual.daemonSet?.metadata?.generation) return undefined;
    const terms = termsOf(daemonSet);
    if (terms.paused || !terms.observed || !hasNoOtherHold(daemonSet)) return undefined;
    const at = clockOf(process);
    const { failed, away } = against(process, actual.rolloutOf(daemonSet), target);
    if (failed.length + away.length > 0) return undefined;
    let settled = 0;
    let eligible = 0;
    let offline = false;
    let used = 0;
    const candidates: { name: string; healthy: boolean; returned: boolean }[] = [];
    for (const [name, { ready, since: from, node }] of view.nodes) {
      if (!isEligible(node, daemonSet)) continue;
      eligible += 1;
      offline ||= !ready;
      if (!ready) continue;
      const isSettled = from === undefined || at - from > settleMs + PROMPT_MS;
      if (isSettled) settled += 1;
      const pods = view.podsOn(name).filter(({ uid }) => actual.pods.has(uid));
      const [pod, ...others] = pods;
      const healthy = pod !== undefined && others.length === 0 && works(pod, at, terms.minReadyMs);
      // What has only just come back may be on its way to be a candidate, or to be in the way of others.
      if (isInFlight(name) || open.has(name) || !healthy) used += 1;
      const isPlain = pod && others.length === 0 && !pod.terminating && !pod.ended && pod.hash !== target;
      if (isPlain && isSettled && healthy && !isInFlight(name) && !open.has(name))
        candidates.push({ name, healthy, returned: from !== undefined });
    }
    const share = daemonSet.apiVersion === 'apps/v1' ? settled : eligible;
    const free = nodesOf(terms.limit, share) - used;
    if (free <= 0 || candidates.length === 0) return undefined;
    return {
      free: Math.min(free, candidates.length),
      candidates: candidates.map(({ name }) => name),
      returned: candidates.every(({ returned }) => returned),
      offline,
    };
  };

  const ruleOf = ({ returned, offline }: Waiting): string => (lost ? 'L4' : offline ? 'L2' : returned ? 'L3' : 'L5');

  const settleReservations = (ms: number): void => {
    for (const [node, waited] of open) {
      open.set(node, waited + ms);
      if (waited + ms > SETTLED_WITHIN_MS && actual.nodes.get(node)?.ready) {
        open.delete(node);
        violation('L7', `the reservation of ${node} is open for ${Math.round((waited + ms) / 1000)} s`);
      }
    }
  };

  const look = (): void => {
    const passed = now() - lastLook;
    if (passed < LOOK_EVERY_MS) return;
    lastLook = now();
    const process = wellLeader();
    // What went by while nobody could do anything counts for nothing.
    if (wasWell && process !== undefined) settleReservations(passed);
    wasWell = process !== undefined;
    if (process === undefined) return;
    const before = waiting;
    waiting = whatWaits(process);
    if (!waiting) return;
    if (!before) since = now();
    else figure('idle slot seconds', (before.free * passed) / 1000);
    check('L5');
    if (waiting.offline) check('L2');
    if (waiting.returned) check('L3');
    if (lost) check('L4');
    const idle = now() - since;
    figure('longest wait for a free slot, ms', idle, 'most');
    if (idle <= PROMPT_MS) return;
    const text = `${waiting.free} slots are free for ${Math.round(idle)} ms, and ${waiting.candidates.join(', ')} wait`;
    // It is what it is in these circumstances, and idleness in all of them.
    for (const invariant of new Set([ruleOf(waiting), 'L5'])) violation(invariant, text);
    bePatient(RECOVERY_MS);
  };

  return {
    beforeCommit: look,
    onCommit({ resource, object, type }) {
      if (resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      const status = object.status as { reservations?: readonly Reservation[]; halted?: unknown } | undefined;
      halted = type !== 'DELETED' && status?.halted !== undefined;
      const left = new Map(
        (type === 'DELETED' ? [] : (status?.reservations ?? [])).flatMap((each) =>
          each.carriedOut ? [] : [[each.node, open.get(each.node) ?? 0] as const],
        ),
      );
      for (const node of open.keys()) if (!left.has(node)) check('L7');
      open.clear();
      for (const [node, waited] of left) open.set(node, waited);
    },
    onSend(call) {
      const calls = inTheAir.get(call.process) ?? new Set();
      inTheAir.set(call.process, calls.add(call));
    },
    onResponse(call) {
      inTheAir.get(call.process)?.delete(call);
      look();
    },
    onFailure(call) {
      inTheAir.get(call.process)?.delete(call);
      // What was refused, or whose fate is not known, is tried again later.
      bePatient(call.resource?.plural === 'podtemplates' ? REFUSED_MS : RECOVERY_MS);
    },
    onWatchEvent: look,
    onWatchOpened: (process) => {
      if (process === leader) bePatient(READ_WITHIN_MS);
    },
    onUpdateSent({ call, node }) {
      // One act after the other is no idleness.
      waiting = undefined;
      if (call.process !== leader || now() < patientUntil) return;
      check('L5');
      const { nodes, daemonSet: seen } = viewOf(call.process);
      const isAway = ({ ready, node: each }: ObservedNode): boolean => !ready && isEligible(each, seen);
      if (nodes.values().some(isAway)) check('L2');
      if (nodes.get(node)?.since !== undefined) check('L3');
      if (lost) check('L4');
    },
    /** With what was lost it has come to its end all the same: else that is told as L1. */
    onConverged() {
      if (lost) check('L4');
    },
    onOperation(operation) {
      const isSilence = operation.do === 'disturb' && operation.how === 'silence';
      const ms = isSilence ? SILENCE_MS : TROUBLE.get(operation.do);
      if (ms !== undefined) bePatient(ms);
      if (operation.do === 'disturb' && operation.how === 'drop') lost = true;
    },
  };
};
