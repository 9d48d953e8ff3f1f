import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import { type Case, type PodView, strategyKey, untilQuiet, writesSince } from '../kit/index.ts';

export const ota = { [strategyKey]: 'ota' };

const needOf = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'PodNeedUpgrade');

/** What a pod says, as `True NewRevision`, when it speaks of the revision that its DaemonSet asks for; else the whole. */
const sayingOf = ({ object }: PodView, target: string | undefined): string => {
  const { status, reason, message } = needOf(object) ?? {};
  if (status === undefined) return 'nothing';
  const said = `${status} ${reason}`;
  return message === `controllerrevision: ${target}` ? said : `${said} of ${message}`;
};

/** What the live pods say, in the order of their nodes; of the target revision as the rollout object knows it. */
export const sayings = async (c: Case, name?: string): Promise<string[]> => {
  const [pods, status] = await Promise.all([c.pods(name), c.status(name)]);
  return pods
    .filter(({ terminating }) => !terminating)
    .toSorted((a, b) => (a.node < b.node ? -1 : 1))
    .map((pod) => sayingOf(pod, status.target?.hash));
};

/** Resolves when the pods say just that, in the order of their nodes. */
export const untilSaid = (c: Case, expected: readonly string[], withinMs?: number): Promise<unknown> => {
  const wanted = JSON.stringify(expected);
  return c.until(
    `the pods say ${wanted}`,
    async () => {
      const said = JSON.stringify(await sayings(c));
      if (said === wanted) return true;
      throw new Error(`they say ${said}`);
    },
    withinMs,
  );
};

/** The owner of a device lets its agent replace the pod there. */
export const byOwner = async (c: Case, ...nodes: (string | undefined)[]): Promise<void> => {
  await Promise.all(
    nodes.map(async (node) => {
      const { name, uid } = await c.podOn(node);
      await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${name}`, { preconditions: { uid } });
    }),
  );
};

/** Announcements that managers of the case sent, refused ones too. */
export const announcements = async (c: Case): Promise<AuditRecord[]> =>
  (await c.calls()).filter(({ verb, resource }) => verb === 'patch' && resource === 'pods/status');

/** All that managers of the case wrote within this many seconds from when all that was under way had ended. */
export const writesAtRest = async (c: Case, seconds: number): Promise<string[]> => {
  await untilQuiet(c);
  const since = (await c.cluster.audit.read()).at(-1)?.answeredAt ?? 0;
  await c.expectNoUpdatesFor(seconds);
  return (await writesSince(c, since)).map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
};
