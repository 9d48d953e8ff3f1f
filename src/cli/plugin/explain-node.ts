import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { defineResource, isKubeError } from '../../kube/index.ts';
import { type Explanation, explain, toNodeView, whyNotEligible } from '../../rollout/index.ts';
import type { Connection } from './connect.ts';
import { CommandFailure } from './failure.ts';
import type { Reading } from './kinds.ts';
import { sentences } from './text.ts';

const nodes = defineResource<Node>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });

/** A slot is used within moments of being reserved; one that is not tells of a manager that cannot. */
const SLOW_ACT_MS = 10_000;

/** Why one node is where it is; of a node that the DaemonSet does not run on, why it does not. */
export const explainNode = async (
  { client, env, namespace }: Connection,
  { kind, ledger, decision, view }: Reading,
  name: string,
): Promise<Explanation> => {
  const record = ledger.get(name);
  const now = env.clock.now();
  if (record?.node) {
    const told = explain(record, view.policy.policy, decision.summary.hold, now);
    const { act } = record;
    if (told.cause !== 'reserved' || !act || now - act.at < SLOW_ACT_MS) return told;
    const remedy = `Its slot has been reserved for ${Math.round((now - act.at) / 1000)} s: see whether the manager runs, and Events ${kind.refusals} of the DaemonSet.`;
    return { ...told, remedy };
  }
  const outside = (what: string, remedy = ''): Explanation => ({
    node: name,
    phase: 'not-eligible',
    cause: undefined,
    what,
    remedy,
    lookedAtAgain: undefined,
  });
  try {
    const node = toNodeView(await client.get(nodes, { name }));
    return outside(
      whyNotEligible(view.needs, node) ?? `${name} has only just become a node of this DaemonSet.`,
      'It is no part of the rollout.',
    );
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    if (record)
      return outside(
        `There is no Node ${name} any more, and a pod of ${namespace}/${view.name} that was on it has not been collected yet.`,
        'It is no part of the rollout.',
      );
    throw new CommandFailure('NotFound', `there is no node "${name}": see "kubectl get nodes"`, error);
  }
};

const when = (time: number | undefined, now: number): string => {
  if (time === undefined) return 'It is looked at again when something changes.';
  return `It is looked at again in ${Math.max(0, Math.ceil((time - now) / 1000))} s, or when something changes.`;
};

/** Nothing is awaited there. */
const settled: ReadonlySet<string> = new Set<Explanation['phase']>(['updated', 'not-eligible']);

export const renderNode = (one: Explanation, notes: readonly string[], now: number): string => {
  const lines = [
    `${one.node}: ${one.phase}${one.cause ? ` (${one.cause})` : ''}`,
    `  ${sentences(one.what, one.remedy, settled.has(one.phase) ? '' : when(one.lookedAtAgain, now))}`,
    ...notes.map((note) => `Note: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
};
