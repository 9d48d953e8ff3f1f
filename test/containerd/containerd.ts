import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createProcesses, type Program, untilReady } from '../cluster/processes.ts';
import { containerdProgram } from './install.ts';

const START_MS = 20_000;

// Without restrict_oom_score_adj no sandbox starts where CAP_SYS_RESOURCE is missing, as it is in many containers.
const configOf = (dir: string): string => `version = 2
root = "${dir}/root"
state = "${dir}/state"
disabled_plugins = [${['aufs', 'btrfs', 'devmapper', 'zfs'].map((name) => `"io.containerd.snapshotter.v1.${name}"`).join(', ')}, "io.containerd.internal.v1.opt"]
[grpc]
  address = "${dir}/containerd.sock"
[ttrpc]
  address = "${dir}/ttrpc.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${dir}/cni"
    conf_dir = "${dir}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${dir}/certs.d"
`;

const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const peer = connect(socket, () => {
      peer.destroy();
      resolve(true);
    });
    peer.on('error', () => resolve(false));
  });

export interface Containerd {
  /** Serves the CRI. */
  readonly socket: string;
  /** Where everything of it lies. */
  readonly dir: string;
  /** Images of `name`, such as `registry.example`, come from the HTTP server at `host`. */
  useRegistry(name: string, host: string): void;
  start(): Promise<void>;
  /** SIGKILL, as in a crash. */
  kill(): Promise<void>;
  log(): Promise<string>;
  close(): Promise<void>;
}

/**
 * A containerd of its own, in a new folder and in its own mount namespace: what it has mounted ends with it, and it ends
 * with this process.
 */
export const startContainerd = async (): Promise<Containerd> => {
  const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-containerd-'));
  mkdirSync(path.join(dir, 'cni'));
  const configFile = path.join(dir, 'config.toml');
  writeFileSync(configFile, configOf(dir));
  const processes = createProcesses(dir);
  const socket = path.join(dir, 'containerd.sock');
  const args = ['--mount', '--propagation', 'private', containerdProgram(), '--config', configFile];
  let program: Program | undefined;

  const containerd: Containerd = {
    socket,
    dir,
    useRegistry(name, host) {
      const folder = path.join(dir, 'certs.d', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        path.join(folder, 'hosts.toml'),
        `server = "http://${host}"\n[host."http://${host}"]\n  capabilities = ["pull", "resolve"]\n`,
      );
    },
    async start() {
      program = await processes.start({ name: 'containerd', file: 'unshare', args });
      await untilReady(program, () => answers(socket), START_MS);
    },
    async kill() {
      program?.kill('SIGKILL');
      await program?.exit;
    },
    log: async () => (await program?.log()) ?? '',
    async close() {
      await program?.stop();
      await processes.close();
    },
  };
  try {
    await containerd.start();
  } catch (error) {
    await containerd.close();
    throw error;
  }
  return containerd;
};
