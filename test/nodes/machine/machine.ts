import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Processes, Program } from '../../cluster/processes.ts';
import { eventually } from '../../support/index.ts';
import { childOf, command } from './command.ts';
import { type MachineSettings, writeConfiguration } from './configuration.ts';
import { createControlGroup, removeControlGroup } from './control-groups.ts';
import { createLink, type Link } from './network.ts';

/** One node: a kubelet and a containerd in namespaces of their own. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly link: Omit<Link, 'connect'>;
  /** The folder that survives a power cut; `var` in it is the node's /var. */
  readonly disk: string;
  powerOn(): Promise<void>;
  /** Ends everything on the node at once; its disk stays. */
  powerOff(): Promise<void>;
  /** Ends the kubelet and keeps it down; containers continue. */
  stopKubelet(): Promise<void>;
  startKubelet(): Promise<void>;
  /** Powers it off for good and takes its disk away. */
  remove(): Promise<void>;
  /** The words before a command that shall run in the network of the node only. */
  enterNetwork(): readonly string[];
  /** Runs a command on the node. */
  run(program: string, ...args: string[]): Promise<string>;
}

export interface MachineOptions extends Omit<MachineSettings, 'cgroup'> {
  index: number;
  /** A folder for the disks of all nodes. */
  dir: string;
  kubeconfig: string;
  /** The control group above those of all nodes. */
  controlGroup: string;
  /** Of the disk, which is kept in memory. */
  diskMiB: number;
}

const UNSHARE = '--mount --uts --ipc --pid --net --fork --mount-proc --propagation private --kill-child'.split(' ');
const BOOT_MS = 20_000;

export const createMachine = async (processes: Processes, options: MachineOptions): Promise<Machine> => {
  const { name, address, index, controlGroup, kubeconfig, diskMiB } = options;
  const disk = join(options.dir, name);
  const cgroup = `${controlGroup}/${name}`;
  await mkdir(disk);
  await command('mount', '-t', 'tmpfs', '-o', `size=${diskMiB}m,mode=755`, `node-${name}`, disk);
  await writeConfiguration(disk, { ...options, cgroup }, kubeconfig);
  const link = createLink(name, index);
  let program: Program | undefined;
  let init = 0;

  const run = (...words: string[]): Promise<string> =>
    command('nsenter', '-t', String(init), '-m', '-u', '-i', '-n', '-p', '--', ...words);

  const machine: Machine = {
    name,
    address,
    link,
    disk,
    run,
    enterNetwork: () => ['nsenter', '-t', String(init), '-n', '--'],
    async powerOn() {
      await createControlGroup(cgroup);
      program = await processes.start({
        name: `node-${name}`,
        file: 'unshare',
        args: [...UNSHARE, join(import.meta.dirname, 'init.sh'), disk],
      });
      const { pid } = program;
      init = await eventually(`the first process of ${name} runs`, () => childOf(pid), { withinMs: BOOT_MS });
      await link.connect(init);
    },
    async powerOff() {
      if (init > 0) process.kill(init, 'SIGKILL');
      await program?.exit;
      init = 0;
      await removeControlGroup(cgroup);
    },
    async stopKubelet() {
      await run('touch', '/run/kubelet.off');
      await run('sh', '-c', 'kill "$(cat /run/kubelet.pid)"');
    },
    startKubelet: async () => void (await run('rm', '/run/kubelet.off')),
    async remove() {
      await machine.powerOff();
      await command('umount', disk);
    },
  };
  return machine;
};
