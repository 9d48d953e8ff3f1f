type Fields = Readonly<Record<string, unknown>>;

const container = (more: Fields): Fields => ({ name: 'c', image: 'nginx:1', ...more });
const hostPath = (name: string, path: string, type?: string): Fields => ({
  name,
  hostPath: { path, ...(type !== undefined && { type }) },
});
const fieldEnv = (name: string, fieldPath: string): Fields => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/** Pod specs: what published agents of nodes look like: an exporter of metrics, a driver of storage, a shipper of logs. */
export const published: readonly Fields[] = [
  {
    hostNetwork: true,
    hostPID: true,
    automountServiceAccountToken: true,
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    priorityClassName: 'system-cluster-critical',
    securityContext: { runAsNonRoot: true, runAsUser: 65_534 },
    tolerations: [{ operator: 'Exists' }],
    containers: [
      container({
        args: ['--path.rootfs=/host/root', '--devices=^(veth.*|[a-f0-9]{15})$'],
        resources: { limits: { cpu: '250m', memory: '180Mi' }, requests: { cpu: '102m', memory: '180Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { add: ['SYS_TIME'], drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        },
        volumeMounts: [{ name: 'root', mountPath: '/host/root', mountPropagation: 'HostToContainer', readOnly: true }],
      }),
      {
        name: 'proxy',
        image: 'registry.example.com/proxy:v1',
        env: [fieldEnv('IP', 'status.podIP')],
        ports: [{ name: 'https', containerPort: 9100, hostPort: 9100 }],
      },
    ],
    volumes: [hostPath('root', '/')],
  },
  {
    hostNetwork: true,
    dnsPolicy: 'ClusterFirstWithHostNet',
    priorityClassName: 'system-node-critical',
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      container({
        securityContext: { privileged: true, capabilities: { add: ['SYS_ADMIN'] }, allowPrivilegeEscalation: true },
        env: [fieldEnv('NODE_ID', 'spec.nodeName'), { name: 'ENDPOINT', value: 'unix:///csi/csi.sock' }],
        livenessProbe: { httpGet: { host: 'localhost', path: '/healthz', port: 'healthz' }, failureThreshold: 5 },
        ports: [{ name: 'healthz', containerPort: 29_653 }],
        lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', 'rm -rf /csi/csi.sock'] } } },
        volumeMounts: [
          { name: 'socket-dir', mountPath: '/csi' },
          { name: 'pods', mountPath: '/var/lib/kubelet/pods', mountPropagation: 'Bidirectional' },
          { name: 'dev', mountPath: '/dev' },
        ],
      }),
    ],
    volumes: [
      hostPath('socket-dir', '/var/lib/kubelet/plugins/x', 'DirectoryOrCreate'),
      hostPath('pods', '/var/lib/kubelet/pods', 'Directory'),
      hostPath('dev', '/dev', ''),
    ],
  },
  {
    terminationGracePeriodSeconds: 5,
    serviceAccount: 'default',
    tolerations: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    initContainers: [
      {
        name: 'prepare',
        image: 'busybox',
        command: ['sh', '-c', 'sysctl -w fs.inotify.max_user_instances=8192'],
        envFrom: [{ secretRef: { name: 'x', optional: true } }, { prefix: 'P_', configMapRef: { name: 'y' } }],
      },
    ],
    containers: [
      container({
        env: [
          { name: 'some.dotted-name', value: '$(NODE)/x' },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
          { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
          fieldEnv('LABEL', "metadata.labels['app']"),
        ],
        resources: { limits: { memory: '0.2Gi' }, requests: { cpu: 0.1, memory: '100M' } },
        volumeMounts: [
          { name: 'config', mountPath: '/etc/agent.conf', subPath: 'agent.conf', readOnly: true },
          { name: 'all', mountPath: '/all' },
        ],
      }),
    ],
    volumes: [
      { name: 'config', configMap: { name: 'agent', defaultMode: 0o640, items: [{ key: 'a', path: 'agent.conf' }] } },
      {
        name: 'all',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token', audience: 'x' } },
            { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
            { secret: { name: 's', optional: true } },
          ],
        },
      },
    ],
  },
];
