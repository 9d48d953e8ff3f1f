import { type Action, type Decision, decide } from '../decision/decide.ts';
import type { OutsideHold } from '../decision/hold.ts';
import type { ImageFacts } from '../facts/image-ready.ts';
import type { NodeFacts } from '../facts/node.ts';
import type { PodFacts } from '../facts/pod.ts';
import { createLedger } from '../ledger/ledger.ts';
import type { Policy } from '../policy/policy.ts';
import type { Cause } from '../record/phase.ts';
import { type NodeUpdate, newUpdate } from '../record/update.ts';
import { policyWith } from './policy.ts';

export const START = Date.parse('2030-01-01T00:00:00Z');
/** What a pod says of the images of a revision; asked for now unless said otherwise. */
export const imagesOf = (
  revision: string,
  state: ImageFacts['state'],
  change: Partial<ImageFacts> = {},
): { images: ImageFacts } => ({
  images: { revision, state, cause: state === 'failed' ? 'no such image' : '', byAgent: false, at: START, ...change },
});

const LONG_AGO = START - 86_400_000;

/**
 * A ledger on a bench: facts go in by a word each, time stands still until it is moved, and acts are carried out at
 * once. Versions are named `a`, `b`, `c`; nodes have long been Ready and pods long been available unless said otherwise.
 */
export const createWorkbench = (initial: Partial<Policy> = {}, { readOnly = false } = {}) => {
  let policy = policyWith(initial);
  const ledger = createLedger(policy, { readOnly });
  let now = START;
  let uids = 0;
  let versions = 0;
  let targets = 0;
  let outside: OutsideHold | undefined;
  const live = new Map<string, PodFacts>();

  const nextVersion = (): string => {
    versions += 1;
    return String(versions);
  };

  const bench = {
    ledger,
    now: (): number => now,
    pass(ms: number): void {
      now += ms;
      ledger.tick(now);
    },
    policy(next: Partial<Policy>): void {
      policy = { ...policy, ...next };
      ledger.setPolicy(policy, now);
    },
    hold(next: OutsideHold | undefined): void {
      outside = next;
    },
    /** Pods of the revisions in `inPlaceFrom` can become the target in place. */
    target(hash: string, ...inPlaceFrom: string[]): void {
      targets += 1;
      ledger.setTarget({ name: `set-${hash}`, hash, number: targets, inPlaceFrom: new Set(inPlaceFrom) }, now);
    },

    node(name: string, facts: Partial<NodeFacts> = {}): void {
      const known = ledger.get(name)?.node;
      const usual = { name, ready: true, readyChangedAt: LONG_AGO, eligible: true, selected: true, zone: '' };
      ledger.setNode({ ...(known ?? usual), ...facts }, now);
    },
    offline: (...names: string[]): void => {
      for (const name of names) bench.node(name, { ready: false, readyChangedAt: now });
    },
    online: (...names: string[]): void => {
      for (const name of names) bench.node(name, { ready: true, readyChangedAt: now });
    },
    /** A new pod on a node; it stands beside those that are there. */
    pod(node: string, revision: string, facts: Partial<PodFacts> = {}): PodFacts {
      uids += 1;
      const pod: PodFacts = {
        uid: `u${uids}`,
        name: `set-${uids}`,
        resourceVersion: nextVersion(),
        node,
        revision,
        createdAt: LONG_AGO,
        terminating: false,
        ready: true,
        readyChangedAt: LONG_AGO,
        trouble: undefined,
        detail: '',
        ...facts,
      };
      live.set(node, pod);
      ledger.setPod(pod, now);
      return pod;
    },
    /** The pod that came last to a node changes. */
    change(node: string, facts: Partial<PodFacts>): PodFacts {
      const pod = live.get(node);
      if (!pod) throw new Error(`no pod on ${node}`);
      const next = { ...pod, resourceVersion: nextVersion(), ...facts };
      live.set(node, next);
      ledger.setPod(next, now);
      return next;
    },
    gone(node: string): void {
      const pod = live.get(node);
      if (pod) ledger.removePod(pod.uid, now);
      live.delete(node);
    },
    /** The pod that came last to a node, as it was seen last. */
    last: (node: string): PodFacts | undefined => live.get(node),
    /** A new pod of `revision`, created now; ready unless said otherwise. */
    start: (node: string, revision: string, facts: Partial<PodFacts> = {}): PodFacts =>
      bench.pod(node, revision, { createdAt: now, readyChangedAt: now, ...facts }),

    decide(): Decision {
      ledger.tick(now);
      return decide(ledger, outside, now);
    },
    /** The nodes that a decision's actions of one type name. */
    nodesOf: (type: Action['type']): string[] =>
      bench.decide().actions.flatMap((action) => (action.type === type && 'node' in action ? [action.node] : [])),
    reserve(node: string, change: Partial<NodeUpdate> = {}): void {
      const pod = live.get(node);
      if (!pod) throw new Error(`no pod on ${node}`);
      const { kind, ...rest } = change;
      const act = newUpdate({ pod, ...(kind && { kind }) }, ledger.state.rollout, now);
      ledger.reserve(node, { ...act, ...rest }, now);
    },
    /** Reserves a slot and changes the pod in place to the target, which shuts its gate. */
    changeInPlace(...nodes: string[]): void {
      const revision = ledger.state.target?.hash;
      if (revision === undefined) throw new Error('there is no target');
      for (const node of nodes) {
        bench.reserve(node, { kind: 'in-place' });
        bench.change(node, {
          revision,
          hasInPlaceGate: true,
          updatingInPlace: true,
          ready: false,
          readyChangedAt: now,
        });
      }
    },
    /** Reserves a slot and creates a pod of the target beside the old one; not ready unless said otherwise. */
    surge(node: string, facts: Partial<PodFacts> = {}): PodFacts {
      const revision = ledger.state.target?.hash;
      if (revision === undefined) throw new Error('there is no target');
      bench.reserve(node, { kind: 'surge' });
      const pod = bench.start(node, revision, { ready: false, ...facts });
      ledger.setStage(node, 'done', now);
      return pod;
    },
    /** The pod that was changed in place has started, and its gate is open again. */
    arrived(...nodes: string[]): void {
      for (const node of nodes)
        bench.change(node, { updatingInPlace: false, gateChangedAt: now, ready: true, readyChangedAt: now });
    },
    /** Reserves a slot and deletes the pod, which is gone at once. */
    act(...nodes: string[]): void {
      for (const node of nodes) {
        bench.reserve(node);
        ledger.setStage(node, 'done', now);
        bench.gone(node);
      }
    },
    /** Acts, and a new pod of `revision` is available at once. */
    update(revision: string, ...nodes: string[]): void {
      for (const node of nodes) {
        bench.act(node);
        bench.start(node, revision);
      }
    },
    phase: (node: string): string => {
      const view = ledger.get(node)?.status;
      return `${view?.phase}/${view?.cause}`;
    },
    cause: (node: string): Cause | undefined => ledger.get(node)?.status.cause,
  };
  return bench;
};
export type Workbench = ReturnType<typeof createWorkbench>;

/** `nodes` named n0, n1, ... of revision `a`, of which all run `a`; the first sight is over, and the target is now `b`. */
export const benchAt = (nodes: number, change: Partial<Policy> = {}): Workbench => {
  const bench = createWorkbench(change);
  bench.target('a');
  for (let index = 0; index < nodes; index += 1) {
    bench.node(`n${index}`);
    bench.pod(`n${index}`, 'a');
  }
  bench.ledger.finishInitialSync();
  bench.pass(0);
  bench.target('b');
  return bench;
};
