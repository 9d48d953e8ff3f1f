import { isAvailable, isOta, nodesOf, policyOf } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import { isEligible } from '../state/cluster-state.ts';
import type { ProcessView } from '../state/process-view.ts';
import { tolerances } from '../tolerances.ts';
import type { FailuresOf } from './breaker.ts';

const KEY = 'edgeset.io/first-wave';
/** The default, as that of the failure threshold: fewer than 31 nodes were updated. */
const FIRST = '3';
const MORE_FOR_EACH = 3;

/** What its sender knew when it sent an update. */
interface Wave {
  limit: number;
  online: ReadonlySet<string>;
  /** Nodes that the version works on; nodes that it failed on, or that were lost soon after they got it. */
  proven: ReadonlySet<string>;
  broken: ReadonlySet<string>;
  /** Online nodes with a pod of the version that is not available: for certain, and as far as the process has observed. */
  unwell: ReadonlySet<string>;
  seenUnwell: ReadonlySet<string>;
}

export interface FirstWaveOptions {
  /** Nodes with an update of the present rollout in flight. */
  inFlight: () => Iterable<string>;
  failuresOf: FailuresOf;
}

/**
 * S17: while a version proves itself, no more nodes try it than its first wave permits, by what the sender had observed. Nodes that
 * were down before may always be updated, and the way back to the revision that was last complete has no first wave.
 */
export const createFirstWaveCheck = (
  { report, actual, viewOf, clockOf, rolloutName }: CheckContext,
  { inFlight, failuresOf }: FirstWaveOptions,
) => {
  let isWayBack = false;
  const waveOfCall = new WeakMap<Call, Wave>();

  /** Nodes on which a process has seen the target work, or may not have known that it no longer does. */
  const provenBy = (view: ProcessView, minReadyMs: number, at: number): ReadonlySet<string> => {
    const isNews = (since: number | undefined): boolean => since !== undefined && at - since <= tolerances.decision.ms;
    const proven = new Set<string>();
    for (const [name, { ready, since, node }] of view.nodes) {
      if (!isEligible(node, view.daemonSet) || !(ready || isNews(since))) continue;
      const works = view
        .podsOn(name)
        .some(
          (pod) => pod.hash === actual.target && (isAvailable(pod, minReadyMs, at) || isNews(pod.lastReady?.until)),
        );
      if (works) proven.add(name);
    }
    return proven;
  };

  /** Online nodes with a pod of the target that was available and has not been for `forMs`, or of which none has been, with 0. */
  const unwellBy = (view: ProcessView, minReadyMs: number, at: number, forMs: number): ReadonlySet<string> => {
    const unwell = new Set<string>();
    for (const [name, { ready, node }] of view.nodes) {
      if (!ready || !isEligible(node, view.daemonSet)) continue;
      const [pod, ...others] = view.podsOn(name);
      if (!pod || others.length > 0 || pod.terminating || pod.hash !== actual.target) continue;
      if (isAvailable(pod, minReadyMs, at)) continue;
      const { lastReady, readySince } = pod;
      if (forMs === 0 || (readySince === undefined && lastReady !== undefined && at - lastReady.until > forMs))
        unwell.add(name);
    }
    return unwell;
  };

  /** What the process knows of the first wave; undefined: there is none. */
  const waveOf = (process: string): Wave | undefined => {
    const view = viewOf(process);
    const { daemonSet } = view;
    // Before the status names the target, the judge cannot tell which pods have proved it.
    if (!daemonSet || actual.target === undefined || isWayBack || isOta(daemonSet)) return undefined;
    if (daemonSet.metadata?.generation !== actual.daemonSet?.metadata?.generation) return undefined;
    const { annotations = {} } = daemonSet.metadata ?? {};
    const setting = annotations[KEY] ?? FIRST;
    // A user who resumes a rollout accepts the failures so far.
    if (annotations['edgeset.io/resume'] !== undefined || setting === '100%') return undefined;
    const online = new Set(
      view.nodes.entries().flatMap(([name, { ready, node }]) => (ready && isEligible(node, daemonSet) ? [name] : [])),
    );
    const proven = provenBy(view, policyOf(daemonSet).minReadyMs, clockOf(process));
    const { failed, lost } = failuresOf(process, actual.rolloutOf(daemonSet), actual.target);
    const limit = Math.max(1, nodesOf(setting, online.size)) + MORE_FOR_EACH * proven.size;
    const unwellFor = (ms: number): ReadonlySet<string> =>
      unwellBy(view, policyOf(daemonSet).minReadyMs, clockOf(process), ms);
    return {
      limit,
      online,
      proven,
      broken: new Set([...failed, ...lost]),
      unwell: unwellFor(tolerances.decision.ms),
      seenUnwell: unwellFor(0),
    };
  };
  const triedBy = ({ online, proven, broken }: Wave, unwell: ReadonlySet<string>): ReadonlySet<string> =>
    new Set(inFlight()).intersection(online).union(unwell).difference(proven).union(broken);

  return {
    /** How many more healthy nodes may try the version, by what the process has observed. */
    room(process: string): number {
      const wave = waveOf(process);
      return wave ? wave.limit - triedBy(wave, wave.seenUnwell).size : Number.POSITIVE_INFINITY;
    },
    onUpdateSent({ call, node, pod, rollout }) {
      const isOfPresent = rollout === actual.rolloutOf(viewOf(call.process).daemonSet);
      // One that is in flight already continues.
      if (!isOfPresent || pod.readySince === undefined || new Set(inFlight()).has(node)) return;
      const wave = waveOf(call.process);
      if (wave) waveOfCall.set(call, wave);
    },
    onUpdateExecuted({ call, node, what }) {
      const wave = waveOfCall.get(call);
      if (!wave) return;
      report.check('S17');
      const others = [...triedBy(wave, wave.unwell)].filter((name) => name !== node);
      if (others.length >= wave.limit)
        report.violation(
          'S17',
          `${what}, although ${others.join(', ')} try the version and it works on ${wave.proven.size}: the first wave permits ${wave.limit}`,
        );
    },
    onCommit({ resource, object, type }) {
      if (resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      isWayBack = type !== 'DELETED' && (object.status as { rollback?: boolean } | undefined)?.rollback === true;
    },
  } satisfies Check & { room: (process: string) => number };
};
