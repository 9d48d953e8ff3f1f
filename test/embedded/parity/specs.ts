import { published } from './published.ts';
import { DS, daemonSet, get, MERGE, PODS, patch, post, put, STRATEGIC } from './requests.ts';
import type { ApiCall } from './servers.ts';

// Pod specs that the API server refuses, changes or warns of, in pods and in the templates of a DaemonSet.

const ARMOR = 'container.apparmor.security.beta.kubernetes.io/';
const SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

type Fields = Readonly<Record<string, unknown>>;

const container = (more: Fields = {}): Fields => ({ name: 'c', image: 'nginx:1', ...more });
const withContainer = (more: Fields): Fields => ({ containers: [container(more)] });
const resources = (limits: Fields, requests?: Fields): Fields =>
  withContainer({ resources: { limits, ...(requests && { requests }) } });
const volumes = (...all: readonly Fields[]): Fields => ({
  containers: [container()],
  volumes: all.map((source, index) => ({ name: `v${index}`, ...source })),
});
const mounted = (mount: Fields, source: Fields = { emptyDir: {} }, more: Fields = {}): Fields => ({
  containers: [container({ volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }], ...more })],
  volumes: [{ name: 'v', ...source }],
});
const ports = (...all: readonly Fields[]): Fields => withContainer({ ports: all });
const env = (...all: readonly (readonly [name: string, value: unknown])[]): Fields =>
  withContainer({
    env: all.map(([name, value]) => ({ name, ...(typeof value === 'string' ? { value } : { valueFrom: value }) })),
  });
const spec = (more: Fields): Fields => ({ containers: [container()], ...more });
const affinity = (more: Fields): Fields => spec({ affinity: more });
const expression = (key: string, operator: string, ...values: readonly string[]): Fields => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});
const annotated = (annotations: Fields, more: Fields = {}): readonly [Fields, Fields] => [spec(more), annotations];

/** What is changed on the way in. */
const stored: readonly Fields[] = [
  ...published,
  resources({ cpu: '0.0001', memory: '1e3' }, { cpu: '100u', memory: '0.5' }),
  resources({ cpu: '1500u', memory: '1.5Gi', 'ephemeral-storage': '0.5Ki' }),
  resources({ cpu: 0.1, memory: 128_974_848 }),
  resources({ cpu: '1000000n', memory: '129M', 'example.com/gpu': '1k' }),
  resources({ memory: '1.1' }),
  resources({ memory: '100m' }, { memory: '0.0001Ki' }),
  ...[
    ' nginx',
    'nginx ',
    'NGINX',
    'nginx:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'nginx:1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'nginx@sha256:0123',
    'localhost:5000/a/b',
    'localhost:5000/a/b:latest',
    'Registry.Example.com/a',
    'registry.example.com:443/a__b.c-d:v1',
    'a//b',
    'a:',
    'a:latest:latest',
    '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    '[2001:db8::1]:5000/a',
    '${IMAGE}',
    '',
  ].map((image) => withContainer({ image })),
  withContainer({ restartPolicy: 'Always' }),
  withContainer({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] }),
  spec({
    initContainers: [
      { name: 'i', image: 'i:1', restartPolicy: 'Never' },
      { name: 's', image: 'i:1', restartPolicy: 'Always' },
    ],
  }),
  withContainer({ lifecycle: { stopSignal: 'SIGUSR1' } }),
  withContainer({ lifecycle: { stopSignal: 'SIGUSR1', preStop: { sleep: { seconds: 3 } } } }),
  mounted({}, { image: { reference: 'x:1', pullPolicy: 'Always' } }),
  volumes({ image: { reference: 'x:1' } }, { emptyDir: {} }),
  volumes({ projected: { sources: [{ clusterTrustBundle: { name: 'x', path: 'y' } }] } }),
  spec({ hostnameOverride: 'x' }),
  env(['A', { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } }]),
  spec({ hostUsers: false, resources: { limits: { cpu: '0.0005' } } }),
  spec({ securityContext: { supplementalGroupsPolicy: 'Strict', seLinuxChangePolicy: 'Recursive' } }),
];

/** What is accepted with a warning. */
const warned: readonly (Fields | readonly [Fields, Fields])[] = [
  spec({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }),
  spec({ nodeSelector: { 'beta.kubernetes.io/arch': 'arm', 'node-role.kubernetes.io/master': '', plain: 'x' } }),
  affinity({
    nodeAffinity: {
      [REQUIRED]: {
        nodeSelectorTerms: [
          expression('beta.kubernetes.io/instance-type', 'Exists'),
          expression('failure-domain.beta.kubernetes.io/zone', 'In', 'a'),
        ],
      },
      [PREFERRED]: [
        { weight: 1, preference: expression('failure-domain.beta.kubernetes.io/region', 'In', 'a', 'b b') },
      ],
    },
  }),
  affinity({
    podAffinity: { [REQUIRED]: [{ topologyKey: 'z' }] },
    podAntiAffinity: { [PREFERRED]: [{ weight: 1, podAffinityTerm: { topologyKey: 'z' } }] },
  }),
  spec({
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
  }),
  annotated({ [`${ARMOR}c`]: 'runtime/default' }),
  annotated(
    { [`${ARMOR}c`]: 'localhost/x' },
    withContainer({ securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } } }),
  ),
  annotated({ [`${ARMOR}c`]: 'unconfined' }, { securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
  annotated({ [`${SECCOMP}c`]: 'runtime/default', 'seccomp.security.alpha.kubernetes.io/pod': 'docker/default' }),
  annotated({ 'scheduler.alpha.kubernetes.io/critical-pod': '', 'security.alpha.kubernetes.io/sysctls': 'a=b' }),
  ports({ containerPort: 80 }, { containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }),
  ports({ containerPort: 80, hostPort: 1 }, { containerPort: 80 }),
  ports({ containerPort: 80, hostPort: 1 }, { containerPort: 80, hostPort: 1, hostIP: '127.0.0.1' }),
  ports({ containerPort: 80, hostIP: '127.0.0.1', name: 'web' }),
  spec({
    containers: [
      container({ ports: [{ name: 'web', containerPort: 80 }] }),
      { name: 'd', image: 'd:1', ports: [{ name: 'web', containerPort: 81 }, { containerPort: 80 }] },
    ],
    initContainers: [{ name: 'i', image: 'i:1', ports: [{ name: 'web', containerPort: 82 }] }],
  }),
  env(['A', '1'], ['A', '2'], ['B', '1'], ['B', '$(B)2'], ['B', '$(B)']),
  env(['A', '1'], ['A', { fieldRef: { fieldPath: 'metadata.name' } }]),
  resources({ memory: '100m', 'ephemeral-storage': '1.5' }, { memory: '0.05', 'ephemeral-storage': '500m' }),
  spec({ terminationGracePeriodSeconds: -1 }),
  spec({
    hostAliases: [
      { ip: '1.2.3.4', hostnames: ['a'] },
      { ip: '1.2.3.4', hostnames: ['b'] },
    ],
  }),
  spec({ imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}] }),
  volumes({ gitRepo: { repository: 'https://example.com/x' } }, { rbd: { image: 'i', monitors: ['m'] } }),
  volumes(
    {
      configMap: {
        name: 'm',
        items: [
          { key: 'a', path: 'x' },
          { key: 'b', path: 'x/y' },
        ],
      },
    },
    {
      secret: {
        secretName: 's',
        items: [
          { key: 'a', path: 'x' },
          { key: 'b', path: 'x' },
        ],
      },
    },
    {
      projected: {
        sources: [
          { configMap: { name: 'm', items: [{ key: 'a', path: 'token' }] } },
          { serviceAccountToken: { path: 'token/' } },
        ],
      },
    },
  ),
  volumes({
    ephemeral: {
      volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '100m' } } } },
    },
  }),
];

/** What is refused. */
const refused: readonly (Fields | readonly [Fields, Fields])[] = [
  spec({ activeDeadlineSeconds: 5 }),
  spec({ restartPolicy: 'Never', activeDeadlineSeconds: 0 }),
  volumes({ hostPath: { path: '/a/../b' } }, { hostPath: { path: '/a', type: 'Nope' } }, { hostPath: { path: '' } }),
  volumes({ hostPath: { path: '/a' }, emptyDir: {} }),
  volumes({ configMap: {} }, { secret: {} }, { persistentVolumeClaim: { claimName: '' } }, { csi: { driver: '' } }),
  volumes({
    configMap: {
      name: 'x',
      defaultMode: 1000,
      items: [
        { key: '', path: '../x' },
        { key: 'a', path: '/x', mode: -1 },
      ],
    },
  }),
  mounted({ subPath: '../x' }),
  mounted({ subPath: '/x', subPathExpr: '$(A)' }),
  mounted({ mountPropagation: 'Bidirectional' }),
  mounted({ mountPropagation: 'Nope' }),
  spec({ os: { name: 'windows' }, securityContext: { runAsUser: 1, fsGroup: 1 }, hostPID: true }),
  {
    os: { name: 'windows' },
    ...withContainer({ securityContext: { privileged: false, runAsUser: 1, capabilities: {} } }),
  },
  spec({ os: { name: 'linux' }, securityContext: { windowsOptions: { runAsUserName: 'x' } } }),
  spec({ os: { name: 'plan9' } }),
  spec({ os: {} }),
  resources({ 'hugepages-2Mi': '2Mi' }),
  resources({ 'hugepages-2Mi': '2Mi', memory: '1Gi' }, { 'hugepages-2Mi': '4Mi' }),
  resources({ cpu: '-1' }),
  resources({ cpu: 'nope' }),
  resources({ 'example.com/gpu': '500m' }),
  resources({ gpu: 1 }),
  ...['readinessProbe', 'livenessProbe', 'startupProbe'].flatMap((probe) =>
    [0, 10, -1].map((terminationGracePeriodSeconds) =>
      withContainer({ [probe]: { tcpSocket: { port: 80 }, terminationGracePeriodSeconds } }),
    ),
  ),
  withContainer({ livenessProbe: { httpGet: { port: 'a_b', scheme: 'FTP' }, successThreshold: 2 } }),
  withContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
  annotated({ [`${ARMOR}none`]: 'runtime/default' }),
  annotated({ [`${ARMOR}c`]: 'nope' }),
  annotated({ [`${ARMOR}c`]: 'unconfined' }, { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
  annotated(
    { [`${ARMOR}c`]: 'localhost/a' },
    { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'b' } } },
  ),
  annotated({ [`${SECCOMP}c`]: 'nope', 'seccomp.security.alpha.kubernetes.io/pod': 'localhost/../x' }),
  ports({ containerPort: 80, hostPort: 1 }, { containerPort: 81, hostPort: 1 }),
  ports({ containerPort: 80, name: 'web' }, { containerPort: 81, name: 'web' }),
  ports({ containerPort: 70_000, hostPort: -1 }),
  ports({ containerPort: 3_000_000_000 }),
  env(['', '1'], ['A=B', '1'], ['ä', '1'], ['1 x', '1']),
  spec({ hostname: 'A.b', subdomain: 'x_y' }),
  spec({ hostAliases: [{ ip: 'nope', hostnames: ['A_'] }] }),
  spec({ dnsPolicy: 'None', dnsConfig: {} }),
  spec({ nodeName: 'A_' }),
  spec({ schedulerName: '', priorityClassName: 'A_', runtimeClassName: 'A_' }),
  spec({ hostPID: true, shareProcessNamespace: true }),
  spec({ securityContext: { runAsUser: -1, fsGroup: 3_000_000_000, supplementalGroups: [-1] } }),
  withContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
  withContainer({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
  affinity({
    nodeAffinity: {
      [REQUIRED]: {
        nodeSelectorTerms: [expression('a', 'In'), expression('b', 'Exists', 'x'), expression('b b', 'Near', 'x')],
      },
    },
  }),
  affinity({
    nodeAffinity: {
      [REQUIRED]: {
        nodeSelectorTerms: [
          expression('a', 'Gt', '1', '2'),
          { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] },
        ],
      },
    },
  }),
  affinity({ nodeAffinity: { [PREFERRED]: [{ weight: 0, preference: expression('a', 'Exists') }] } }),
  affinity({ podAntiAffinity: { [REQUIRED]: [{ topologyKey: '', labelSelector: {} }] } }),
  spec({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Nope', labelSelector: {} }] }),
  { containers: [] },
  spec({
    initContainers: [
      { name: 'c', image: 'x' },
      { name: 'B_', image: '' },
    ],
  }),
];

/** Numbers of a DaemonSet. */
const strategies: readonly Fields[] = [
  { minReadySeconds: 3_000_000_000 },
  { minReadySeconds: -3_000_000_000 },
  { minReadySeconds: 1.5 },
  { revisionHistoryLimit: 2_147_483_648 },
  { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 2 } } },
  { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxSurge: '10%' } } },
  { updateStrategy: { type: 'OnDelete', rollingUpdate: {} } },
  { updateStrategy: { type: 'OnDelete' } },
  { updateStrategy: { type: '' } },
  ...['10', '0', '-1', '+1', 'x', '', '10%', '0%', '100%', '1.5%', 0, -1, 3_000_000_000, null].flatMap((value) => [
    { updateStrategy: { rollingUpdate: { maxUnavailable: value } } },
    { updateStrategy: { rollingUpdate: { maxSurge: value, maxUnavailable: 0 } } },
  ]),
  { updateStrategy: { rollingUpdate: { maxSurge: '10', maxUnavailable: '10' } } },
];

const GENERATION = 'deprecated.daemonset.template.generation';

const generation = (name: string, value: string, image = 'nginx:1') => ({
  ...daemonSet(name, {
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image }] } },
  }),
  metadata: { name, annotations: { [GENERATION]: value } },
});

const old = (image: string): Fields => ({
  template: {
    metadata: { labels: { app: 'w' } },
    spec: { containers: [{ name: 'c', image }], nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
  },
});

const isPair = (each: Fields | readonly [Fields, Fields]): each is readonly [Fields, Fields] => Array.isArray(each);

/** A pod spec in a DaemonSet and in a Pod, as dry runs. */
const both = (each: Fields | readonly [Fields, Fields]): readonly ApiCall[] => {
  const [podSpec, annotations = {}] = isPair(each) ? each : [each];
  const metadata = { labels: { app: 'x' }, annotations };
  return [
    post(`${DS}?dryRun=All`, daemonSet('x', { template: { metadata, spec: podSpec } })),
    // The API server warns of an annotation even if it refuses the pod.
    ...(`${ARMOR}c` in annotations && refused.includes(each)
      ? []
      : [
          post(`${PODS}?dryRun=All`, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { ...metadata, name: 'x' },
            spec: podSpec,
          }),
        ]),
  ];
};

export const specCalls: readonly ApiCall[] = [
  ...[...stored, ...warned, ...refused].flatMap(both),
  post(`${PODS}?dryRun=All`, { metadata: { name: 'x.y' }, spec: { containers: [container()] } }),
  ...strategies.map((each) => post(`${DS}?dryRun=All`, daemonSet('x', each))),
  ...['5', '0', '-1', '1', 'x', '', '1.5', '+7', '99999999999999999999'].map((value) =>
    post(`${DS}?dryRun=All`, generation('x', value)),
  ),
  // The generation counts on from what it was created with; an update cannot set it.
  post(DS, generation('counted', '5')),
  put(`${DS}/counted`, generation('counted', '9')),
  put(`${DS}/counted`, generation('counted', '9', 'nginx:2')),
  patch(MERGE, `${DS}/counted`, { metadata: { annotations: null } }),
  patch(MERGE, `${DS}/counted`, { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }),
  get(`${DS}/counted`),
  // An update warns when it changes the template.
  post(DS, daemonSet('w', old('nginx:1'))),
  patch(MERGE, `${DS}/w`, { spec: { minReadySeconds: 1 } }),
  patch(MERGE, `${DS}/w`, { metadata: { labels: { a: 'b' } } }),
  patch(STRATEGIC, `${DS}/w`, { spec: old('nginx:2') }),
  put(`${DS}/w`, daemonSet('w', old('nginx:3'))),
  put(`${DS}/w`, daemonSet('w', old('nginx:3'))),
  patch('application/apply-patch+yaml', `${DS}/w?fieldManager=a&force=true`, daemonSet('w', old('nginx:4'))),
  patch(
    'application/apply-patch+yaml',
    `${DS}/w2?fieldManager=a`,
    daemonSet('w2', { ...old('nginx:4'), selector: { matchLabels: { app: 'w' } } }),
  ),
];
