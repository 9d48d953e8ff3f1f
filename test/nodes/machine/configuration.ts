import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface MachineSettings {
  name: string;
  /** Of the node itself. */
  address: string;
  gateway: string;
  podCidr: string;
  /** `HOST:PORT`. */
  apiServer: string;
  /** `HOST:PORT`. */
  registry: string;
  /** Below the root of each controller. */
  cgroup: string;
  kubelet: string;
  kubeconfig: string;
  labels: Readonly<Record<string, string>>;
}

// Snapshotters that a kernel may not support would only slow the start down.
const unusedPlugins = [
  ...['aufs', 'btrfs', 'devmapper', 'zfs'].map((name) => `io.containerd.snapshotter.v1.${name}`),
  'io.containerd.tracing.processor.v1.otlp',
  'io.containerd.internal.v1.tracing',
];

// Without restrict_oom_score_adj no sandbox starts where CAP_SYS_RESOURCE is missing, as it is in many containers.
const containerd = `version = 2
disabled_plugins = ${JSON.stringify(unusedPlugins)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.test/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
`;

const hosts = (registry: string): string =>
  `server = "http://${registry}"\n[host."http://${registry}"]\n  capabilities = ["pull", "resolve"]\n`;

const cni = (podCidr: string): object => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        dataDir: '/var/lib/cni/networks',
        ranges: [[{ subnet: podCidr }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
});

const kubelet = ({ address, cgroup }: MachineSettings): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${cgroup}`,
  failCgroupV1: false,
  failSwapOn: false,
  makeIPTablesUtilChains: false,
  // The default is below /usr, which the nodes share.
  volumePluginDir: '/var/lib/kubelet/volumeplugins',
  resolvConf: '/etc/resolv.conf',
  clusterDomain: 'cluster.local',
  clusterDNS: ['10.96.0.10'],
  oomScoreAdj: 0,
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
  authorization: { mode: 'Webhook' },
  // What an operator of an edge fleet waits for is the same with the defaults, only longer.
  nodeStatusUpdateFrequency: '1s',
  nodeStatusReportFrequency: '10s',
  nodeLeaseDurationSeconds: 4,
  serializeImagePulls: false,
  imageGCHighThresholdPercent: 100,
  evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '5%', 'imagefs.available': '5%' },
  evictionPressureTransitionPeriod: '1s',
  shutdownGracePeriod: '0s',
});

/** Writes what `init.sh` and the node's daemons read into `<disk>/conf`. */
export const writeConfiguration = async (
  disk: string,
  settings: MachineSettings,
  kubeconfig: string,
): Promise<void> => {
  const conf = join(disk, 'conf');
  await mkdir(conf, { recursive: true });
  const environment = {
    NAME: settings.name,
    ADDRESS: settings.address,
    GATEWAY: settings.gateway,
    API_SERVER: settings.apiServer,
    KUBELET: settings.kubelet,
    LABELS: Object.entries(settings.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  };
  const files = {
    environment: Object.entries(environment)
      .map(([key, value]) => `${key}='${value}'\n`)
      .join(''),
    'containerd.toml': containerd,
    'hosts.toml': hosts(settings.registry),
    'cni.conflist': JSON.stringify(cni(settings.podCidr)),
    'kubelet.yaml': JSON.stringify(kubelet(settings)),
    kubeconfig,
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(conf, name), text, { mode: 0o600 })));
};
