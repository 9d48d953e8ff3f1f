import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { defineResource, KubeError, type KubeObject } from '../../../kube/index.ts';
import { type Fleet, withFleet } from '../testing/fleet.ts';

const GRACE_SECONDS = 5;
const inPlace = { updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } } } as const;

const admission = (kind: string) =>
  defineResource<KubeObject & { spec: object }>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings',
    kind,
    namespaced: false,
  });
const policies = admission('ValidatingAdmissionPolicy');
const bindings = admission('ValidatingAdmissionPolicyBinding');

/** Makes the API server refuse this; returns what permits it again. */
const refuse = async ({ client }: Fleet, resource: string, operation: string, expression = 'false') => {
  const name = `no-${resource.replace('/', '-')}`;
  await client.create(policies, {
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: [resource] }],
      },
      validations: [{ expression, message: `at most 500m by ${name}` }],
    },
  });
  await client.create(bindings, { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } });
  return async (): Promise<void> => {
    await client.delete(bindings, { name });
    await client.delete(policies, { name });
  };
};

const withCpu = (cpu: string, image = 'app:v1') => ({
  spec: { containers: [{ name: 'app', image, resources: { requests: { cpu } } }] },
});
const setCpu = (fleet: Fleet, cpu: string, image = 'app:v1') =>
  fleet.patch({ spec: { template: withCpu(cpu, image) } });
const cpuOf = ({ spec }: Pod): string => spec?.containers[0]?.resources?.requests?.cpu ?? '';

const isClosed = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'InPlaceUpdateReady' && is === 'False') ?? false;

/** UIDs of pods that were ever out of service for an in-place update, and pods that carried a revision but not its amounts. */
const follow = ({ cluster }: Fleet, cpu: string) => {
  const closed = new Set<string>();
  const mislabelled = new Set<string>();
  const labels = new Map<string, string>();
  cluster.apiServer.subscribe(({ resource, object }) => {
    if (resource.plural !== 'pods') return;
    const pod = object as unknown as Pod;
    const { uid = '', labels: { 'controller-revision-hash': hash = '' } = {} } = pod.metadata ?? {};
    if (isClosed(pod)) closed.add(uid);
    const first = labels.get(uid) ?? hash;
    labels.set(uid, first);
    if (hash !== first && cpuOf(pod) !== cpu) mislabelled.add(uid);
  });
  return { closed, mislabelled };
};

const start = async (fleet: Fleet, annotations: Record<string, string> = {}): Promise<Map<string, Pod>> => {
  await fleet.create(inPlace, annotations, withTemplate(withCpu('200m')));
  return fleet.allRun('app:v1');
};
const withTemplate = (template: object): object => ({ metadata: { labels: { app: 'app' } }, ...template });

const stalledRollout = async (fleet: Fleet) =>
  (await fleet.rollout()).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True');

const allHave = (fleet: Fleet, cpu: string) =>
  fleet.until(`all pods have ${cpu}`, async () => {
    const pods = await fleet.pods();
    const { status } = await fleet.get();
    const done = status?.updatedNumberScheduled === 3 && status.numberAvailable === 3;
    return done && pods.length === 3 && pods.every((pod) => cpuOf(pod) === cpu) && pods;
  });

it(
  'another template that is accepted needs no wait',
  withFleet(async (fleet) => {
    await start(fleet);
    await refuse(fleet, 'pods/resize', 'UPDATE');
    const expression = "object.spec.containers.all(c, c.resources.requests.cpu != '800m')";
    await refuse(fleet, 'pods', 'CREATE', expression);
    await setCpu(fleet, '800m');
    await fleet.until('the DaemonRollout is stalled', () => stalledRollout(fleet));
    await fleet.clock.advance(60_000);
    await setCpu(fleet, '400m');
    const since = fleet.clock.now();
    await allHave(fleet, '400m');
    assert.ok(fleet.clock.now() - since < 60_000);
  }),
);

for (const [what, refusesPods] of [
  ['is recreated', false],
  ['returns to service', true],
] as const)
  it(
    `a pod that ${what} if its resize is refused after it was asked for is not counted as updated`,
    withFleet(async (fleet) => {
      await start(fleet, { 'apps.kruise.io/inplace-update-grace': String(GRACE_SECONDS) });
      const { mislabelled } = follow(fleet, '800m');
      await setCpu(fleet, '800m', 'app:v2');
      await fleet.until('a pod is out of service', async () => (await fleet.pods()).some(isClosed));
      await refuse(fleet, 'pods/resize', 'UPDATE');
      if (refusesPods) {
        await refuse(fleet, 'pods', 'CREATE');
        await fleet.until('the DaemonRollout is stalled', () => stalledRollout(fleet));
        await fleet.clock.advance(5_000);
        const { numberAvailable, updatedNumberScheduled } = (await fleet.get()).status ?? {};
        assert.deepEqual([numberAvailable, updatedNumberScheduled], [3, 0]);
        assert.equal((await fleet.pods()).some(isClosed), false);
      } else await allHave(fleet, '800m');
      assert.deepEqual([...mislabelled], []);
    }),
  );

it(
  'answers that say nothing about the pod are tried again, and no pod is recreated for them',
  withFleet(async (fleet) => {
    const before = await start(fleet);
    const error = (code: 'TooManyRequests' | 'InternalError' | 'Timeout', status: number, happened: 'no' | 'unknown') =>
      new KubeError(code, 'not now', { status, happened });
    for (const each of [
      error('TooManyRequests', 429, 'no'),
      error('InternalError', 500, 'unknown'),
      error('Timeout', 0, 'unknown'),
    ])
      fleet.faults.push({ verb: 'patch', plural: 'pods/resize', error: each, left: 1 });
    await setCpu(fleet, '800m');
    const pods = await allHave(fleet, '800m');
    const uids = (all: Iterable<Pod>): string[] =>
      [...all].map(({ metadata }) => metadata?.uid ?? '').toSorted((a, b) => a.localeCompare(b));
    assert.deepEqual(uids(pods), uids(before.values()));
  }),
);

it(
  'a webhook that does not support dry runs decides when it is written to',
  withFleet(async (fleet) => {
    const before = await start(fleet);
    const error = new KubeError('BadRequest', 'admission webhook "w" does not support dry run', { status: 400 });
    const fault = { verb: 'patch', plural: 'pods/resize', error, left: 1 };
    fleet.faults.push(fault);
    await setCpu(fleet, '800m');
    const pods = await allHave(fleet, '800m');
    assert.equal(fault.left, 0);
    const old = new Set([...before.values()].map(({ metadata }) => metadata?.uid));
    assert.equal(pods.filter(({ metadata }) => old.has(metadata?.uid)).length, 3);
  }),
);

const eight = Array.from({ length: 8 }, (_, index) => `node-${index}`);
it(
  'once new pods are refused for two nodes, the others are not asked about one by one',
  withFleet(async (fleet) => {
    await fleet.create(inPlace, {}, withTemplate(withCpu('200m')));
    await fleet.allRun('app:v1', eight.length);
    await refuse(fleet, 'pods/resize', 'UPDATE');
    await refuse(fleet, 'pods', 'CREATE');
    const since = fleet.requests.length;
    await setCpu(fleet, '800m');
    await fleet.until('the DaemonRollout is stalled', () => stalledRollout(fleet));
    await fleet.clock.advance(30_000);
    const asked = fleet.count('create', 'pods', since);
    assert.ok(asked >= 2 && asked <= 8, `${asked} times`);
    assert.equal((await fleet.rollout()).status?.summary, 'Pods are refused');
  }, eight),
);
