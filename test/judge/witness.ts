import type { InvariantId } from '../invariants/index.ts';
import { type ClusterState, type PodState } from './state/cluster-state.ts';
import type { ProcessView } from './state/process-view.ts';

/** Invariants that are judged by what the process had received. The others hold by the actual state, whatever it had received. */
const BY_ITS_VIEW: ReadonlySet<string> = new Set<InvariantId>([
  'S2',
  'S3',
  'S4',
  'S8',
  'S9',
  'S13',
  'S16',
  'S18',
  'G1',
  'G3',
  'L2',
  'L3',
  'L5',
  'L9',
]);

export interface WitnessOptions {
  actual: () => ClusterState;
  /** What a process has observed. */
  viewOf: (process: string) => ProcessView;
  /** Processes that believe that they lead. */
  believers: () => readonly string[];
}

const describePod = ({ name, hash, terminating, ended, preparing, gateClosed, readySince }: PodState): string => {
  const marks = [
    ...(terminating ? ['terminating'] : []),
    ...(ended ? ['ended'] : []),
    ...(preparing ? ['its hook has its turn'] : []),
    ...(gateClosed ? ['gate closed'] : []),
    readySince === undefined ? 'not ready' : 'ready',
  ];
  return `${name} at ${hash} (${marks.join(', ')})`;
};

interface KnownNode {
  ready: boolean;
}

const describeNode = (node: KnownNode | undefined, pods: readonly PodState[]): string => {
  if (!node) return 'no such node';
  return `${node.ready ? 'ready' : 'not ready'}, ${pods.map(describePod).join(' and ') || 'no pod'}`;
};

const describeSet = ({ daemonSet }: Pick<ClusterState, 'daemonSet'>): string => {
  const { generation, resourceVersion } = daemonSet?.metadata ?? {};
  return daemonSet ? `generation ${generation}, version ${resourceVersion}` : 'none';
};

export const nodesIn = (text: string): string[] => [...new Set(text.match(/\bnode-\d+\b/g))];
export const processIn = (text: string): string | undefined => /\b(?:manager|agent)-[\w-]*\d/.exec(text)?.[0];

/**
 * Tells what the process that a violation is about had received at that moment, beside what was so, and who is therefore rather
 * at fault: the product, or the judge that asks for what could not be known.
 */
export const createWitness = ({ actual, viewOf, believers }: WitnessOptions) => {
  const testimonyOf = (process: string, invariant: string, nodes: readonly string[]): string[] => {
    const state = actual();
    const view = viewOf(process);
    const facts = [
      { what: 'the DaemonSet', was: describeSet(state), known: describeSet(view) },
      { what: 'the target', was: state.target ?? 'not recorded yet', known: state.target ?? 'not recorded yet' },
      ...nodes.map((name) => ({
        what: name,
        was: describeNode(state.nodes.get(name), state.podsOn(name)),
        known: describeNode(view.nodes.get(name), view.podsOn(name)),
      })),
    ];
    const unknown = facts.filter(({ was, known }) => was !== known);
    const verdict =
      unknown.length === 0
        ? `${process} had received all of this: if the rule is right, the product is at fault`
        : BY_ITS_VIEW.has(invariant)
          ? `${process} had not received all of this, and is judged by what it had received: rather the product is at fault`
          : `${process} had not received what is new of ${unknown.map(({ what }) => what).join(', ')}: the judge is at fault if nothing (a slot, a precondition, a fence) could have kept it from this`;
    return [
      ...facts.map(({ what, was, known }) => `${what}: ${was}${was === known ? '' : `; ${process} knew: ${known}`}`),
      verdict,
    ];
  };

  return (invariant: string, text: string): readonly string[] => {
    const process = processIn(text);
    const nodes = nodesIn(text);
    const processes = process === undefined ? believers() : [process];
    if (processes.length === 0) return ['nobody believed that it led: look at who should have, and why it did not'];
    return processes.flatMap((each) => testimonyOf(each, invariant, nodes));
  };
};
