import { type Generator } from '../../../test/support/index.ts';
import { type VirtualClock } from '../../runtime/index.ts';
import { type Decision, decide } from '../decision/decide.ts';
import type { OutsideHold } from '../decision/hold.ts';
import type { PodFacts } from '../facts/types.ts';
import { createLedger, type Ledger } from '../ledger/ledger.ts';
import { restore, save } from '../ledger/persist.ts';
import { type Act, newAct } from '../record/record.ts';
import { createModelActs } from './model-acts.ts';
import type { Change, ModelCluster, Spec } from './model-cluster.ts';
import { createModelProcess, type Met, type Weather } from './model-process.ts';
import { watch } from './watch.ts';

/** What a driver was told by its watches, and when: what a checker holds its acts against. */
export interface RawView {
  nodes: Map<string, { facts: Extract<Change, { stream: 'nodes' }>['node']; since: number }>;
  pods: Map<string, { facts: PodFacts; readySince: number }>;
  spec: Spec | undefined;
}

/** Called as a driver goes along. */
export interface Witness {
  decided?(driver: Driver, decision: Decision): void;
  reserved?(driver: Driver, node: string, pod: PodFacts): void;
  /** An act leaves for the API server. */
  sent?(driver: Driver, node: string, act: Act): void;
  /** The API server has carried it out. */
  deleted?(node: string, act: Act, pod: PodFacts): void;
  /** A pod was created beside the one that the act names; `late`: somebody has written to that one since it was allowed. */
  surged?(node: string, act: Act, pod: PodFacts, late: boolean): void;
  /** The old pod, or the one that works less, leaves for the API server to be deleted. */
  retiring?(driver: Driver, node: string, pod: PodFacts): void;
  /** A pod was taken out of service to be changed in place. */
  shut?(node: string, act: Act, pod: PodFacts): void;
  /** A pod was changed in place. */
  changed?(node: string, act: Act, pod: PodFacts): void;
  met?(what: Met): void;
  wrote?(driver: Driver, what: 'rollout' | 'delete' | 'change' | 'surge' | 'gate' | 'fence' | 'template'): void;
}

export interface DriverOptions {
  time: VirtualClock;
  chance: Generator;
  cluster: ModelCluster;
  weather: Weather;
  witness: Witness;
  /** Whether taking over is written down before anything is done. Default true; false is a defect to be found. */
  claims?: boolean;
  /** Whether a slot of unknown fate is given back only after a fence. Default true; false is a defect to be found. */
  fences?: boolean;
}

/** One process of the controller: its own ledger and view, and the loop that carries decisions out. */
export const createModelDriver = (options: DriverOptions) => {
  const { time, chance, cluster, weather, witness, claims = true, fences = true } = options;
  const ledger: Ledger = createLedger(cluster.spec.policy);
  const view: RawView = { nodes: new Map(), pods: new Map(), spec: undefined };
  const process = createModelProcess({ time, chance, weather, met: (what) => witness.met?.(what) });
  const { run, soon, call } = process;
  let skewMs = 0;
  let synced = false;
  let authoritative = false;
  let unwritten = false;
  let busy = false;
  let version = 0;
  let written = '';
  let stepDue = false;
  let wakeAt = Number.POSITIVE_INFINITY;

  const clock = (): number => time.now() + skewMs;

  const lookSoon = (): void => {
    if (stepDue) return;
    stepDue = true;
    soon(chance.between(1, 100), () => {
      stepDue = false;
      step();
    });
  };
  const lookAt = (at: number): void => {
    if (at >= wakeAt || at === Number.POSITIVE_INFINITY) return;
    wakeAt = at;
    soon(at - clock(), () => {
      if (wakeAt !== at) return;
      wakeAt = Number.POSITIVE_INFINITY;
      step();
    });
  };

  const seePod = (pod: PodFacts): void => {
    const known = view.pods.get(pod.uid);
    if (known && Number(known.facts.resourceVersion) > Number(pod.resourceVersion)) return;
    const same = known?.facts.ready && known.facts.readyChangedAt === pod.readyChangedAt;
    view.pods.set(pod.uid, {
      facts: pod,
      readySince: same ? known.readySince : synced ? clock() : Math.min(pod.readyChangedAt, clock()),
    });
    ledger.setPod(pod, clock());
  };
  const losePod = (uid: string): void => {
    view.pods.delete(uid);
    ledger.removePod(uid, clock());
  };
  const see = (change: Change): void => {
    const now = clock();
    if (change.stream === 'spec') {
      view.spec = change.spec;
      ledger.setPolicy(change.spec.policy, now);
    } else if (change.stream === 'nodes') {
      const { node, gone } = change;
      const known = view.nodes.get(node.name);
      const same = known?.facts.ready === node.ready && known.facts.readyChangedAt === node.readyChangedAt;
      const since = same ? known.since : synced || known ? now : Math.min(node.readyChangedAt, now);
      if (gone) view.nodes.delete(node.name);
      else view.nodes.set(node.name, { facts: node, since });
      if (gone) ledger.removeNode(node.name, now);
      else ledger.setNode(node, now);
    } else if (change.gone) losePod(change.pod.uid);
    else seePod(change.pod);
    lookSoon();
  };

  const load = (): void => {
    busy = true;
    call(
      () => ({ ok: true, value: structuredClone(cluster.readRollout()) }),
      (answer) => {
        busy = false;
        if (answer.ok) {
          version = answer.value.version;
          const saved = restore(answer.value.saved);
          ledger.restore(saved.state, saved.acts, saved.forgiven, clock());
          authoritative = true;
          unwritten = claims;
          if (saved.acts.size > 0) witness.met?.('took over');
        }
        lookSoon();
      },
    );
  };

  const write = (): void => {
    busy = true;
    const saved = save(ledger);
    const content = JSON.stringify(saved);
    call(
      () => {
        const answer = cluster.writeRollout(version, saved);
        if (answer.ok) witness.wrote?.(driver, 'rollout');
        return answer;
      },
      (answer) => {
        busy = false;
        if (answer.ok) {
          version = answer.value;
          unwritten = false;
          written = content;
        } else authoritative = false;
        lookSoon();
      },
    );
  };

  const acts = createModelActs({
    cluster,
    ledger,
    view,
    witness,
    fences,
    call,
    soon,
    lookSoon,
    seePod,
    losePod,
    now: clock,
    self: () => driver,
  });

  const carryOut = ({ actions }: Decision): void => {
    const now = clock();
    for (const action of actions) {
      witness.met?.(action.type);
      const act = 'node' in action ? ledger.get(action.node)?.act : undefined;
      switch (action.type) {
        case 'halt':
          ledger.amend({ halted: action.halt }, now);
          unwritten = true;
          break;
        case 'resume':
          ledger.forgive(now);
          ledger.amend({ halted: undefined, resumed: action.value }, now);
          unwritten = true;
          break;
        case 'complete': {
          const { target } = ledger.state;
          ledger.amend({ finishedAt: now, lastComplete: target && { name: target.name, hash: target.hash } }, now);
          unwritten = true;
          break;
        }
        case 'rollback': {
          const seen = view.spec?.generation;
          if (cluster.spec.generation !== seen) break;
          cluster.setPolicy({ rolledBackFrom: ledger.state.target?.hash });
          cluster.setVersion(Number(action.to.name.slice('set-'.length)));
          witness.wrote?.(driver, 'template');
          break;
        }
        case 'reserve': {
          ledger.reserve(action.node, newAct(action, ledger.state.rollout, now), now);
          witness.reserved?.(driver, action.node, action.pod);
          unwritten = true;
          break;
        }
        case 'delete':
          if (act) acts.delete(action.node, act);
          break;
        case 'change':
          if (act) acts.change(action.node, act);
          break;
        case 'surge':
          if (act) acts.surge(action.node, act);
          break;
        case 'retire':
          acts.retire(action.node, action.pod);
          break;
        case 'release':
          if (action.fence) {
            if (act) acts.fence(action.node, act);
          } else {
            ledger.release(action.node, now);
            unwritten = true;
          }
          break;
        case 'ask':
        case 'unask':
          throw new Error('nobody pulls images ahead here');
        case 'announce':
          // The model's rollouts are all automatic, and nothing was ever announced to its pods.
          throw new Error('nothing is announced');
      }
    }
  };

  const step = (): void => {
    if (busy || !synced || !view.spec) return;
    if (!authoritative) return load();
    const now = clock();
    if (view.spec.observed) ledger.setTarget(view.spec.target, now);
    ledger.tick(now);
    const outside: OutsideHold | undefined = view.spec.observed ? undefined : { kind: 'unobserved' };
    const decision = decide(ledger, outside, now);
    witness.decided?.(driver, decision);
    if (unwritten) return write();
    carryOut(decision);
    acts.openGates();
    if (unwritten) return lookSoon();
    // What changed without a slot being reserved is written too, as a status is.
    if (!acts.busy() && decision.actions.length === 0 && JSON.stringify(save(ledger)) !== written) return write();
    // A request that waits for another one, or for its back-off, is looked at again.
    if (decision.actions.length > 0) lookAt(now + 500);
    return lookAt(decision.wakeAt);
  };

  const stopWatching = watch({
    time,
    chance,
    cluster,
    lagMs: () => weather.lagMs,
    deliver: (change) => run(() => see(change)),
    synced: () =>
      run(() => {
        synced = true;
        ledger.firstSightOver();
        lookSoon();
      }),
  });

  const driver = {
    ledger,
    view,
    /** The process ends, with all that it knew. */
    crash(): void {
      process.end();
      stopWatching();
    },
    /** Sets this process's clock so far off the API server's. */
    setClock(offMs: number): void {
      // What was seen was seen that long ago all the same. A clock set forward cannot be told from time that passed.
      const backMs = Math.max(0, skewMs - offMs);
      for (const node of view.nodes.values()) node.since -= backMs;
      for (const pod of view.pods.values()) pod.readySince -= backMs;
      skewMs = offMs;
      wakeAt = Number.POSITIVE_INFINITY;
      lookSoon();
    },
    now: clock,
    /** Until when it has heard all that its watches had to say, by true time. */
    heardUntil: process.heardUntil,
    pause: () => process.pause(),
    wake(): void {
      process.wake();
      lookSoon();
    },
    get alive(): boolean {
      return process.alive;
    },
  };
  return driver;
};
export type Driver = ReturnType<typeof createModelDriver>;
