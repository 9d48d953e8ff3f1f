import type { DaemonRolloutStage, RolloutPlanSpec } from '../../../src/words/index.ts';
import type { Case } from './case.ts';
import { budgetKey } from './objects.ts';

export const planKey = 'edgeset.io/rollout-plan';
export const plansPath = (namespace: string): string =>
  `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/rolloutplans`;

export const planObject = (name: string, spec: RolloutPlanSpec) => ({
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'RolloutPlan',
  metadata: { name },
  spec,
});

export const createPlan = (c: Case, spec: RolloutPlanSpec, name = 'rings'): Promise<unknown> =>
  c.api.create(plansPath(c.namespace), planObject(name, spec));

export const label = async (
  c: Case,
  labels: Readonly<Record<string, string>>,
  nodes: readonly string[],
): Promise<void> => {
  for (const node of nodes) await c.api.merge(`/api/v1/nodes/${node}`, { metadata: { labels } });
};

/** A stage of the nodes with this value of the label `ring`. */
export const ring = (name: string, promote: Exclude<RolloutPlanSpec['stages'], undefined>[number]['promote'] = {}) => ({
  name,
  nodes: { selector: { matchLabels: { ring: name } } },
  promote,
});

export const decide = async (
  c: Case,
  stage: string,
  decision: 'Approve' | 'Promote' = 'Approve',
  apiGroup: 'apps' | 'apps.kruise.io' = 'apps',
): Promise<void> => {
  const { target } = await c.status();
  await c.api.create(`/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/rolloutapprovals`, {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutApproval',
    metadata: { generateName: 'app-' },
    spec: {
      daemonSet: { apiGroup, name: 'app' },
      revision: target?.hash,
      stage,
      decision,
      approvedBy: await me(c),
      comment: 'looks good',
    },
  });
};

/** The name that the API server knows the suite by. */
export const me = async (c: Case): Promise<string> => {
  const review = await c.api.create<{ status: { userInfo: { username: string } } }>(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  );
  return review.status.userInfo.username;
};

export const stage = async (c: Case, name: string): Promise<DaemonRolloutStage | undefined> =>
  (await c.status()).stages?.find((each) => each.name === name);

export const untilStage = (c: Case, name: string, is: (found: DaemonRolloutStage) => boolean, what: string) =>
  c.until(`stage ${name} ${what}`, async () => {
    const found = await stage(c, name);
    return found && is(found) ? found : undefined;
  });

export const passed = (found: DaemonRolloutStage): boolean => found.state === 'Passed';
export const awaits =
  (reason: string) =>
  (found: DaemonRolloutStage): boolean =>
    found.awaits?.reason === reason;

/** The API server's answer to the first watches of a CRD that was installed moments ago. */
export const FRESH_CRD = /storage is \(re\)initializing/;

export const wide = { [budgetKey]: '100%', [planKey]: 'rings' };
