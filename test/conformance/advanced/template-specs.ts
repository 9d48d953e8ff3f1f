export const templateLabels = { app: 'x' };
const plain = { name: 'c', image: 'nginx:1' };
const oneOf = (container: object): object => ({ containers: [{ ...plain, ...container }] });
export const withSpec = (spec: object): object => ({ containers: [plain], ...spec });

const probe = (handler: object): object => ({ ...handler, initialDelaySeconds: 3 });

/** Specs of pod templates: what the API server fills in, folds or refuses. */
export const templateSpecs: readonly object[] = [
  withSpec({}),
  oneOf({ image: 'nginx' }),
  oneOf({ image: 'registry:5000/nginx' }),
  oneOf({ image: 'nginx@sha256:0123456789012345678901234567890123456789012345678901234567890123' }),
  // Sidecars, and what runs before.
  withSpec({
    initContainers: [
      { name: 'once', image: 'setup:1' },
      { name: 'beside', image: 'proxy:1', restartPolicy: 'Always', startupProbe: probe({ tcpSocket: { port: 1 } }) },
    ],
  }),
  withSpec({ initContainers: [{ name: 'once', image: 'setup:1', restartPolicy: 'Nope' }] }),
  withSpec({ initContainers: [{ name: 'once', image: 'setup:1', readinessProbe: probe({ tcpSocket: { port: 1 } }) }] }),
  withSpec({ initContainers: [{ name: 'c', image: 'setup:1' }] }),
  // Probes and hooks.
  oneOf({
    livenessProbe: probe({ httpGet: { port: 80 } }),
    readinessProbe: probe({ exec: { command: ['true'] } }),
    startupProbe: probe({ grpc: { port: 5 } }),
    lifecycle: { preStop: { httpGet: { port: 'web' } }, postStart: { exec: { command: ['x'] } } },
  }),
  oneOf({ lifecycle: { preStop: { sleep: { seconds: 2 } } }, livenessProbe: { tcpSocket: { port: 1 } } }),
  oneOf({ readinessProbe: {} }),
  oneOf({ readinessProbe: { httpGet: {}, tcpSocket: { port: 1 } } }),
  oneOf({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2, timeoutSeconds: -1 } }),
  // Volumes.
  withSpec({
    volumes: [
      { name: 'a' },
      { name: 'b', hostPath: { path: '/x' } },
      { name: 'c', secret: { secretName: 's' } },
      { name: 'd', configMap: { name: 'm', items: [{ key: 'k', path: 'p' }] } },
      { name: 'e', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { name: 'f', projected: { sources: [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'm' } }] } },
      { name: 'g', persistentVolumeClaim: { claimName: 'p' } },
      { name: 'h', emptyDir: { medium: 'Memory', sizeLimit: '0.5Gi' } },
      { name: 'i', iscsi: { targetPortal: 'a', iqn: 'iqn.2001-04.com.example:x', lun: 0 } },
      { name: 'j', rbd: { monitors: ['m'], image: 'i' } },
      { name: 'k', azureDisk: { diskName: 'd', diskURI: 'https://blob/vhds/d.vhd' } },
      { name: 'l', csi: { driver: 'd.example.com' } },
      { name: 'm', nfs: { server: 's', path: '/' } },
      {
        name: 'n',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1000Mi' } } },
          },
        },
      },
      { name: 'o', scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' }, volumeName: 'v' } },
    ],
  }),
  withSpec({ volumes: [{ name: 'a' }, { name: 'a' }, { name: 'B' }, { hostPath: { path: '' } }] }),
  oneOf({
    volumeMounts: [
      { name: 'none', mountPath: '/x' },
      { name: 'none', mountPath: '' },
    ],
  }),
  withSpec({
    volumes: [{ name: 'v' }],
    containers: [
      {
        ...plain,
        volumeMounts: [
          { name: 'v', mountPath: '/x', readOnly: true },
          { name: 'v', mountPath: '/x' },
        ],
      },
    ],
  }),
  // Environment.
  oneOf({
    env: [
      { name: 'A' },
      { name: 'B', value: '$(A)' },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    ],
    envFrom: [{ configMapRef: { name: 'm' } }, { prefix: 'P_', secretRef: { name: 's', optional: true } }],
  }),
  oneOf({
    env: [{ name: '' }, { name: 'a b' }, { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'x' } } }],
  }),
  oneOf({
    env: [
      { name: 'A', valueFrom: {} },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'spec.nope' } } },
    ],
  }),
  // Ports and the host's network.
  oneOf({
    ports: [
      { containerPort: 80, name: 'web' },
      { containerPort: 81, protocol: 'UDP', hostPort: 8081 },
    ],
  }),
  oneOf({ ports: [{ containerPort: 0 }, { containerPort: 70_000, protocol: 'NOPE', name: 'Not_Good' }] }),
  oneOf({
    ports: [
      { containerPort: 80, name: 'a' },
      { containerPort: 81, name: 'a' },
    ],
  }),
  withSpec({ hostNetwork: true, containers: [{ ...plain, ports: [{ containerPort: 80 }] }] }),
  withSpec({ hostNetwork: true, hostPID: true, hostIPC: false, shareProcessNamespace: true }),
  withSpec({ hostNetwork: true, containers: [{ ...plain, ports: [{ containerPort: 80, hostPort: 90 }] }] }),
  // Amounts.
  oneOf({ resources: { limits: { cpu: '0.5', memory: '1024Mi' } } }),
  oneOf({ resources: { limits: { cpu: 1 }, requests: { cpu: '1000m', memory: '0.5' } } }),
  oneOf({ resources: { limits: { cpu: '100m' }, requests: { cpu: '1' } } }),
  oneOf({ resources: { limits: { cpu: '-1' } } }),
  oneOf({ resources: { limits: { nope: '1' } } }),
  oneOf({ resources: { limits: { 'example.com/gpu': '100m' } } }),
  oneOf({ resources: { requests: { 'example.com/gpu': '1' } } }),
  oneOf({
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
    resources: { requests: { cpu: '1' } },
  }),
  withSpec({ resources: { limits: { cpu: '1' } } }),
  withSpec({ overhead: { cpu: '1500m' } }),
  // Security.
  withSpec({
    securityContext: {
      runAsUser: 1000,
      fsGroup: 5,
      sysctls: [{ name: 'net.a', value: '1' }],
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      { ...plain, securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN'] }, procMount: 'Default' } },
    ],
  }),
  oneOf({ securityContext: { runAsUser: -1 } }),
  // Where it may run.
  withSpec({
    tolerations: [
      { operator: 'Exists' },
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 },
    ],
    nodeSelector: { zone: 'a' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
        ],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: templateLabels }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: templateLabels },
      },
    ],
  }),
  withSpec({
    tolerations: [
      { key: 'a', operator: 'Exists', value: 'b' },
      { key: '', operator: 'Equal', effect: 'Nope' },
      { key: 'x', tolerationSeconds: 1 },
    ],
  }),
  withSpec({ nodeSelector: { 'bad key': 'x' } }),
  withSpec({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  }),
  // The rest of what pods of daemons say.
  withSpec({
    terminationGracePeriodSeconds: 0,
    dnsPolicy: 'ClusterFirstWithHostNet',
    dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }],
    imagePullSecrets: [{ name: 'pull' }],
    priorityClassName: 'system-node-critical',
    serviceAccountName: 'robot',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    readinessGates: [{ conditionType: 'InPlaceUpdateReady' }],
    preemptionPolicy: 'Never',
    hostname: 'h',
    subdomain: 's',
    setHostnameAsFQDN: true,
    runtimeClassName: 'r',
    os: { name: 'linux' },
    schedulingGates: [{ name: 'example.com/g' }],
  }),
  withSpec({ serviceAccount: 'old-name' }),
  withSpec({ terminationGracePeriodSeconds: -5 }),
  withSpec({ dnsPolicy: 'None' }),
  withSpec({ dnsPolicy: 'Nope', restartPolicy: 'Nope' }),
  withSpec({ restartPolicy: 'Never', activeDeadlineSeconds: 0 }),
  withSpec({ readinessGates: [{ conditionType: 'not a type' }] }),
  withSpec({ serviceAccountName: 'Not_Good', hostname: 'not.good', priorityClassName: '' }),
  withSpec({ ephemeralContainers: [{ name: 'e', image: 'x' }] }),
  // Containers themselves.
  { containers: [] },
  {},
  { containers: [{ name: 'c' }, { image: 'x' }, { name: 'Not_Good', image: ' x' }, { name: 'c', image: 'x' }] },
  oneOf({ imagePullPolicy: 'Nope', terminationMessagePolicy: 'Nope', command: ['a'], args: ['b'], workingDir: '/x' }),
  oneOf({ stdin: true, stdinOnce: true, tty: true, terminationMessagePath: '/x' }),
  oneOf({ nope: 1 }),
];
