import { isKubeError, nodes as nodeResource } from '../kube/index.ts';
import { type Explanation, toNodeInfo, whyNotEligible } from '../rollout/index.ts';
import type { Connection } from './connection.ts';
import { CommandError } from './errors.ts';
import { explainRecord } from './explain-rollout.ts';
import type { Reading } from './kinds/kind.ts';
import { reservedSince } from './named-rollout.ts';

/** Explains the state of one node, or why the DaemonSet does not run on it. */
export const explainNode = async (
  { client, env, namespace, edgeset }: Connection,
  reading: Reading,
  name: string,
): Promise<Explanation> => {
  const { kind, ledger, view, manager } = reading;
  const record = ledger.get(name);
  const now = env.clock.now();
  if (record?.node) {
    const explanation = explainRecord(reading, record, now, edgeset);
    const since = reservedSince(record, now);
    if (since === undefined) return explanation;
    const reserved = `Its slot has been reserved for ${Math.round((now - since) / 1000)} s`;
    const events = `the ${kind.failureEvents} Events of the DaemonSet`;
    const remedy =
      manager?.kind === 'running'
        ? `${reserved} although the manager is running (${manager.how}): see ${events}, and the log of the manager.`
        : manager?.kind === 'absent'
          ? `${reserved}. ${manager.why}.`
          : `${reserved}: check that the manager is running, and see ${events}.`;
    return { ...explanation, remedy };
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
    const node = toNodeInfo(await client.get(nodeResource, { name }));
    return outside(
      whyNotEligible(view.needs, node) ?? `${name} has just become eligible for this DaemonSet.`,
      'It is not part of the rollout.',
    );
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    if (record)
      return outside(
        `Node ${name} no longer exists, but its pod of ${namespace}/${view.name} has not been garbage-collected yet.`,
        'It is not part of the rollout.',
      );
    throw new CommandError('NotFound', `there is no node "${name}": run "kubectl get nodes"`, error);
  }
};
