import { type Generator } from '../../../test/support/index.ts';
import { type VirtualClock } from '../../runtime/index.ts';
import type { PodFacts } from '../facts/types.ts';
import type { SavedRollout } from '../ledger/persist.ts';
import type { TrueNode } from './model-cluster.ts';

export type Answer<T> = { ok: true; value: T } | { ok: false; reason: 'NotFound' | 'Conflict' | 'Refused' };

const fail = <T>(reason: 'NotFound' | 'Conflict' | 'Refused'): Answer<T> => ({ ok: false, reason });

/** What the calls work on. */
export interface ApiOptions {
  time: VirtualClock;
  chance: Generator;
  nodes: ReadonlyMap<string, TrueNode>;
  pods: ReadonlyMap<string, PodFacts>;
  /** Pods whose containers are those of their revision, and those that were changed in place. */
  arrived: Set<string>;
  changed: Set<string>;
  setPod: (pod: PodFacts, change: Partial<PodFacts>) => PodFacts;
  makePod: (node: string, revision: string) => PodFacts;
  startPod: (uid: string) => void;
  terminate: (pod: PodFacts) => PodFacts;
  dropDuplicates: (node: string) => void;
}

/** The API server's calls: each is atomic, and knows no caller. */
export const createModelApi = (options: ApiOptions) => {
  const { time, chance, nodes, pods, arrived, changed, setPod, makePod, startPod, terminate, dropDuplicates } = options;
  const marks = new Map<string, number>();
  /** Pods that were created beside others, by what their name is made from. */
  const surged = new Map<string, string>();
  let rollout: { version: number; saved: SavedRollout | undefined } = { version: 0, saved: undefined };

  const find = (uid: string, version: string | undefined): Answer<PodFacts> => {
    const pod = pods.get(uid);
    if (!pod) return fail('NotFound');
    return version !== undefined && pod.resourceVersion !== version ? fail('Conflict') : { ok: true, value: pod };
  };

  return {
    deletePod(uid: string, version: string): Answer<PodFacts> {
      const found = find(uid, version);
      if (!found.ok || found.value.terminating) return found;
      return { ok: true, value: terminate(found.value) };
    },
    /** Shuts the gate of a pod: it is out of service from now on. */
    shutGate(uid: string, version: string): Answer<PodFacts> {
      const found = find(uid, version);
      if (!found.ok || found.value.changing) return found;
      const at = time.now();
      return {
        ok: true,
        value: setPod(found.value, { changing: true, changedAt: at, ready: false, readyChangedAt: at }),
      };
    },
    /** Changes a pod in place; its containers start anew after a while. */
    changePod(uid: string, version: string, revision: string): Answer<PodFacts> {
      const found = find(uid, version);
      if (!found.ok) return found;
      arrived.delete(uid);
      changed.add(uid);
      time.timer(chance.between(500, 6_000), () => startPod(uid));
      return { ok: true, value: setPod(found.value, { revision, trouble: undefined, detail: '' }) };
    },
    openGate(uid: string, version: string): Answer<PodFacts> {
      const found = find(uid, version);
      if (!found.ok) return found;
      const at = time.now();
      const ready = arrived.has(uid) && nodes.get(found.value.node)?.connected === true;
      return { ok: true, value: setPod(found.value, { changing: false, changedAt: at, ready, readyChangedAt: at }) };
    },
    /** Its containers are those of its revision, and run. */
    hasArrived: (uid: string): boolean => arrived.has(uid),
    /** Creates a pod beside another one, under a name that follows from both: made once, it is not made again. */
    surgePod(node: string, replaces: string, revision: string): Answer<PodFacts> {
      const name = `${replaces}/${revision}`;
      const known = surged.get(name);
      const there = known === undefined ? undefined : pods.get(known);
      if (there) return { ok: true, value: there };
      const pod = makePod(node, revision);
      surged.set(name, pod.uid);
      time.timer(chance.between(20, 400), () => dropDuplicates(node));
      return { ok: true, value: pod };
    },
    /** How often it was written to for no change but its version. */
    marksOf: (uid: string): number => marks.get(uid) ?? 0,
    /** The pods that were created beside this one, and are there. */
    surgedBeside: (uid: string): PodFacts[] =>
      [...surged].flatMap(([name, made]) => (name.startsWith(`${uid}/`) ? (pods.get(made) ?? []) : [])),
    touchPod(uid: string, version?: string): Answer<PodFacts> {
      const found = find(uid, version);
      if (!found.ok) return found;
      marks.set(uid, (marks.get(uid) ?? 0) + 1);
      return { ok: true, value: setPod(found.value, {}) };
    },
    readPod: (uid: string): Answer<PodFacts> => find(uid, undefined),
    readRollout: () => rollout,
    writeRollout(version: number, saved: SavedRollout): Answer<number> {
      if (version !== rollout.version) return fail('Conflict');
      rollout = { version: version + 1, saved: structuredClone(saved) };
      return { ok: true, value: rollout.version };
    },
  };
};
