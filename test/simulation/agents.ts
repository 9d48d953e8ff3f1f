import type { Handler } from '../../src/agent/http/index.ts';
import { type ClockSkew, createClockSkew } from '../../src/agent/index.ts';
import type { KubeClient } from '../../src/kube/index.ts';
import { type Clock, createLogger, type Logger, silentLogger } from '../../src/runtime/index.ts';
import { createChance } from '../sim/chance.ts';
import { type Answer, type Request, request, runAgent } from './agent.ts';
import type { CallFault } from './call.ts';
import type { ConsentJudge } from './checker/consent.ts';
import type { AnyDaemonSet } from './checker/terms.ts';
import type { Told } from './connection.ts';
import { createDeviceDisk, type DeviceDisk } from './disk.ts';
import { createLink, type Link } from './link.ts';
import { createMachine, type Machine } from './machine.ts';
import { createOwner, type Owner } from './owner.ts';
import type { Deed } from './plan.ts';

export type AgentDeed = Extract<Deed, { do: 'agent' | 'owner' | 'will' }>;

export interface AgentProcess {
  identity: string;
  node: string;
  machine: Machine;
  link: Link;
  serverTime: ClockSkew;
}

export interface AgentsOptions {
  time: Clock;
  seed: number;
  latencyMs: number;
  restartMs: number;
  /** The process's way to the API server. */
  connect: (process: AgentProcess, told: Told) => KubeClient;
  /** Asked once a record that an agent makes durable. */
  diskFault: (process: string) => CallFault | undefined;
  consent: ConsentJudge;
  say: (line: string) => void;
  /** What agents log is recorded too. */
  words: boolean;
}

/** A device, whatever process runs on it. */
interface Device {
  node: string;
  disk: DeviceDisk;
  owner: Owner;
  random: () => number;
  process: AgentProcess | undefined;
  handler: Handler | undefined;
  offline: boolean;
  skewMs: number;
  started: number;
}

/** A caller waits so long for an answer. */
const PATIENCE_MS = 15_000;

/** The agents that ship, one on each node, and the owners who use them. */
export const createAgents = (options: AgentsOptions) => {
  const { time, seed, connect, consent, say } = options;
  const devices = new Map<string, Device>();

  const toldTo = ({ identity, serverTime }: AgentProcess): Told => ({
    learns(call, object) {
      // An answer names the time in whole seconds.
      serverTime.observe({ serverTime: Math.floor(time.now() / 1000) * 1000 });
      // A watch that is opened brings nothing yet.
      const isRead = call.verb === 'get' && call.ref !== undefined;
      if (isRead && call.resource?.plural === 'daemonsets') consent.told(identity, object as AnyDaemonSet);
    },
    fails: () => undefined,
    begins: () => undefined,
    ends: () => undefined,
    hears: () => undefined,
  });

  const start = (device: Device): void => {
    const { node } = device;
    device.started += 1;
    const identity = `agent-${device.started} of ${node}`;
    const machine = createMachine({
      name: identity,
      time,
      skewMs: device.skewMs,
      killed() {
        say(`${identity} dies`);
        device.process = undefined;
        device.handler = undefined;
        time.timer(options.restartMs, () => start(device));
      },
    });
    const { random } = device;
    const link = createLink({ time, random, latencyMs: options.latencyMs });
    if (device.offline) link.cut(() => undefined);
    const process: AgentProcess = { identity, node, machine, link, serverTime: createClockSkew(machine.clock) };
    device.process = process;
    const log: Logger = options.words
      ? createLogger({
          write: (line) => say(`${identity} says ${line}`),
          now: () => machine.clock.now(),
          format: 'text',
        })
      : silentLogger;
    const disk = device.disk.mount({ time, machine, faultOf: () => options.diskFault(identity) });
    say(`${identity} starts`);
    runAgent(
      {
        client: connect(process, toldTo(process)),
        env: { clock: machine.clock, random, log },
        node,
        disk,
        serverTime: process.serverTime,
        serves(handler) {
          device.handler = handler;
        },
      },
      new AbortController().signal,
    ).catch((error: unknown) => {
      say(`${identity} ended: ${String(error)}`);
      machine.kill();
    });
  };

  /** One request of an owner, from the press of a button to the answer, or to the end of his patience. */
  const send = (device: Device, asked: Request): Promise<Answer | undefined> =>
    new Promise((resolve) => {
      const { process, handler, node } = device;
      if (!process || !handler) {
        resolve(undefined);
        return;
      }
      let waits = true;
      const end = (answer: Answer | undefined): void => {
        if (!waits) return;
        waits = false;
        patience.cancel();
        resolve(answer);
      };
      const patience = time.timer(PATIENCE_MS, () => end(undefined));
      process.machine.deliver(() => {
        const isRead = asked.method === 'GET';
        if (!isRead) say(`owner of ${node} ${asked.method} ${asked.path} ${asked.body ?? ''}`);
        const answered = consent.asked(node, process.identity, asked);
        const ask = async (): Promise<void> => {
          try {
            const answer = await request(handler, asked, () => waits);
            if (!isRead) say(`owner of ${node} hears ${answer.status} ${answer.text}`);
            answered(answer);
            end(answer);
          } catch (error) {
            say(`${process.identity} ended: ${String(error)}`);
            process.machine.kill();
          }
        };
        void ask();
      });
    });

  const add = (node: string): void => {
    if (devices.has(node)) return;
    const number = devices.size + 1;
    const device: Device = {
      node,
      disk: createDeviceDisk(),
      owner: createOwner({ time, send: (asked) => send(device, asked), offsetMs: number * 300 }),
      random: createChance(seed * 1_000 + number),
      process: undefined,
      handler: undefined,
      offline: false,
      skewMs: 0,
      started: 0,
    };
    devices.set(node, device);
    start(device);
  };

  const running = (): AgentProcess[] => [...devices.values()].flatMap(({ process }) => process ?? []);

  const setOffline = (device: Device, offline: boolean, met: () => void): void => {
    device.offline = offline;
    if (offline) device.process?.link.cut(met);
    else device.process?.link.restore();
  };
  const disturb = (device: Device, deed: Extract<AgentDeed, { do: 'agent' }>, met: () => void): void => {
    const { process } = device;
    if (process) met();
    switch (deed.how) {
      case 'skew':
        device.skewMs = deed.ms;
        return;
      case 'cut':
        setOffline(device, true, met);
        time.timer(deed.forMs, () => setOffline(device, false, met));
        return;
      case 'crash':
        return process?.machine.kill();
      case 'cut-power':
        process?.machine.kill();
        return device.disk.cutPower(() => device.random() < 0.5);
      case 'stop':
        process?.machine.pause();
        time.timer(deed.forMs, () => process?.machine.resume());
        return;
    }
  };

  return {
    add,
    processOf: (identity: string): AgentProcess | undefined => running().find((each) => each.identity === identity),
    links: (): readonly Link[] => running().map(({ link }) => link),
    /** The node's link to the API server is down, or up again. */
    online(node: string, isOnline: boolean): void {
      const device = devices.get(node);
      if (device && device.offline === isOnline) setOffline(device, !isOnline, () => undefined);
    },
    /** `met` is called when it has met something. */
    carryOut(deed: AgentDeed, met: () => void): void {
      const device = devices.get(deed.node);
      if (!device) return;
      switch (deed.do) {
        case 'agent':
          return disturb(device, deed, met);
        case 'will':
          consent.will(deed.node, deed.agrees);
          return device.owner.will(deed.agrees);
        case 'owner':
          return void device.owner.says(deed.ask, deed.times ?? 1).then((isSent) => isSent && met());
      }
    },
    mend(): void {
      for (const device of devices.values()) {
        setOffline(device, false, () => undefined);
        device.skewMs = 0;
        device.process?.machine.resume();
      }
    },
  };
};
export type Agents = ReturnType<typeof createAgents>;
