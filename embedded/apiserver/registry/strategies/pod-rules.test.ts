import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, type Json, recordOf } from '../../json.ts';
import { daemonSetStrategy } from './workload.ts';

// test/embedded/parity compares many more inputs with a real API server.

const daemonSet = (podSpec: Json, annotations: Json = {}, spec: Json = {}): Json =>
  recordOf(
    daemonSetStrategy.defaults?.({
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' }, annotations }, spec: podSpec },
        ...spec,
      },
    }),
  );

const container = (more: Json = {}): Json => ({ containers: [{ name: 'c', image: 'nginx:1', ...more }] });
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

describe('the stored template of a DaemonSet', () => {
  const stored = (podSpec: Json, ...path: (string | number)[]): unknown =>
    at(daemonSet(podSpec), 'spec', 'template', 'spec', 'containers', 0, ...path);

  for (const [given, amount] of [
    ['0.0001', '1m'],
    ['1500u', '2m'],
    ['1000000n', '1m'],
    ['0.5', '500m'],
    ['1e3', '1e3'],
  ])
    it(`has ${amount} for ${given} of a resource`, () =>
      assert.equal(stored(container({ resources: { limits: { cpu: given } } }), 'resources', 'limits', 'cpu'), amount));

  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
  for (const [image, policy] of [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['registry.example.com:443/a__b.c-d', 'Always'],
    [`nginx:latest@${digest}`, 'Always'],
    [`nginx@${digest}`, 'IfNotPresent'],
    ['nginx:1', 'IfNotPresent'],
    [' nginx', 'IfNotPresent'],
    ['NGINX', 'IfNotPresent'],
    [digest.slice('sha256:'.length), 'IfNotPresent'],
  ] as const)
    it(`pulls ${JSON.stringify(image)} ${policy}`, () =>
      assert.equal(stored({ containers: [{ name: 'c', image }] }, 'imagePullPolicy'), policy));

  it('lacks fields behind feature gates that are off', () => {
    const spec = {
      hostnameOverride: 'x',
      containers: [
        {
          name: 'c',
          image: 'x:1',
          restartPolicy: 'Always',
          lifecycle: { stopSignal: 'SIGUSR1' },
          volumeMounts: [
            { name: 'i', mountPath: '/i' },
            { name: 'e', mountPath: '/e' },
          ],
        },
      ],
      initContainers: [{ name: 's', image: 'x:1', restartPolicy: 'Always' }],
      volumes: [{ name: 'i', image: { reference: 'y:1' } }, { name: 'e' }],
    };
    const made = recordOf(at(daemonSet(spec), 'spec', 'template', 'spec'));
    assert.deepEqual(made.volumes, [{ name: 'e', emptyDir: {} }]);
    assert.equal('hostnameOverride' in made, false);
    const [first] = made.containers as Json[];
    assert.deepEqual(first?.volumeMounts, [{ name: 'e', mountPath: '/e' }]);
    assert.equal('restartPolicy' in (first ?? {}) || 'lifecycle' in (first ?? {}), false);
    assert.equal(at(made.initContainers, 0, 'restartPolicy'), 'Always');
  });

  it('has both numbers of a strategy that it does not follow', () => {
    const updateStrategy = { type: 'OnDelete', rollingUpdate: { maxUnavailable: 2 } };
    assert.deepEqual(at(daemonSet(container(), {}, { updateStrategy }), 'spec', 'updateStrategy'), {
      type: 'OnDelete',
      rollingUpdate: { maxSurge: 0, maxUnavailable: 2 },
    });
  });
});

describe('the API server warns of', () => {
  for (const [what, podSpec, annotations, warning] of [
    [
      'a deprecated node label',
      { ...container(), nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      {},
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
    [
      'an AppArmor annotation',
      container(),
      { [`${APP_ARMOR}c`]: 'runtime/default' },
      `spec.template.metadata.annotations[${APP_ARMOR}c]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ],
    [
      'a port that is defined twice',
      container({ ports: [{ containerPort: 80 }, { containerPort: 80 }] }),
      {},
      'spec.template.spec.containers[0].ports[1]: duplicate port definition with spec.template.spec.containers[0].ports[0]',
    ],
    [
      'a variable that hides another',
      container({
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      }),
      {},
      'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
    [
      'a part of a byte',
      container({ resources: { limits: { memory: '100m' } } }),
      {},
      'spec.template.spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
    ],
    [
      'a negative grace period',
      { ...container(), terminationGracePeriodSeconds: -1 },
      {},
      'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    ],
  ] as const)
    it(what, () => assert.deepEqual(daemonSetStrategy.warnings?.(daemonSet(podSpec, annotations)), [warning]));

  it('an update only if the template changes', () => {
    const spec = { ...container(), nodeSelector: { 'beta.kubernetes.io/os': 'linux' } };
    const before = recordOf(daemonSetStrategy.prepareForCreate?.(daemonSet(spec), {} as never));
    const updated = (next: Json): string[] =>
      daemonSetStrategy.warnings?.(recordOf(daemonSetStrategy.prepareForUpdate?.(next, before, {} as never)), before) ??
      [];
    assert.equal(updated(daemonSet(spec, {}, { minReadySeconds: 5 })).length, 0);
    assert.equal(updated(daemonSet({ ...spec, hostPID: true })).length, 1);
  });
});

describe('the API server refuses', () => {
  const { validate } = daemonSetStrategy;
  for (const [what, podSpec, spec, causes] of [
    [
      'a deadline in a DaemonSet',
      { ...container(), activeDeadlineSeconds: 5 },
      {},
      ['spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported'],
    ],
    [
      'a way out of a host path',
      { ...container(), volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] },
      {},
      [`spec.template.spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
    ],
    [
      'a user on Windows',
      { ...container(), os: { name: 'windows' }, securityContext: { runAsUser: 1 } },
      {},
      ['spec.template.spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod'],
    ],
    [
      'huge pages alone',
      container({ resources: { limits: { 'hugepages-2Mi': '2Mi' } } }),
      {},
      ['spec.template.spec.containers[0].resources: Forbidden: HugePages require cpu or memory'],
    ],
    [
      'a grace period of a readiness probe',
      container({ readinessProbe: { exec: { command: ['x'] }, terminationGracePeriodSeconds: 5 } }),
      {},
      [
        'spec.template.spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes',
      ],
    ],
    [
      'a number in quotes, once',
      container(),
      { updateStrategy: { rollingUpdate: { maxUnavailable: '10' } } },
      [
        `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "10": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
      ],
    ],
  ] as const)
    it(what, () =>
      assert.deepEqual(
        validate?.(daemonSet(podSpec, {}, spec)).map(({ field, message }) => `${field}: ${message}`),
        causes,
      ),
    );

  it('an AppArmor annotation for a container that does not exist', () =>
    assert.deepEqual(
      validate?.(daemonSet(container(), { [`${APP_ARMOR}d`]: 'unconfined' })).map(({ message }) => message),
      ['Invalid value: "d": container not found'],
    ));
});
