import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createProcesses, untilReady } from '../cluster/processes.ts';
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
  readonly socket: string;
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
  try {
    const program = await processes.start({ name: 'containerd', file: 'unshare', args });
    await untilReady(program, () => answers(socket), START_MS);
    return {
      socket,
      async close() {
        await program.stop();
        await processes.close();
      },
    };
  } catch (error) {
    await processes.close();
    throw error;
  }
};
