import type { Handler } from '../../../src/agent/http/index.ts';
import { clientLimits } from '../../../src/agent/index.ts';
import { type ClockSkew, createClient, createClockSkew } from '../../../src/kube/index.ts';
import {
  type Clock,
  createLogger,
  createRandom,
  type Env,
  type Logger,
  silentLogger,
} from '../../../src/runtime/index.ts';
import type { AnyDaemonSet } from '../../invariants/index.ts';
import type { ConsentCheck } from '../../judge/updates/consent.ts';
import type { CallFault } from '../network/call.ts';
import type { Transport } from '../network/connection.ts';
import type { ProcessObserver } from '../network/connection-options.ts';
import { inCluster } from '../network/credentials.ts';
import { createLink, type Link } from '../network/link.ts';
import type { Operation } from '../plan/plan.ts';
import { type Answer, type Request, request, runAgent } from './agent.ts';
import { createDeviceDisk, type DeviceDisk } from './disk.ts';
import { createMachine, type Machine } from './machine.ts';
import { createOwner, type Owner } from './owner.ts';

export type AgentOperation = Extract<Operation, { do: 'agent' | 'owner' | 'auto-approve' }>;

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
  /** The process's client. */
  connect: (process: AgentProcess, told: ProcessObserver) => Transport;
  /** Called once for each record that an agent syncs to its disk. */
  diskFault: (process: string) => CallFault | undefined;
  consent: ConsentCheck;
  /** A process has read this time. */
  onTimeRead: (at: number) => void;
  say: (line: string) => void;
  /** Record what agents log, too. */
  logged: boolean;
}

/** A device, which outlives the agent processes on it. */
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

/** A caller times out after this. */
const REQUEST_TIMEOUT_MS = 15_000;

/** The agents that ship, one on each node, and the owners who use them. */
export const createAgents = (options: AgentsOptions) => {
  const { time, seed, connect, consent, say } = options;
  const devices = new Map<string, Device>();

  const observerOf = ({ identity }: AgentProcess): ProcessObserver => ({
    onSend: () => undefined,
    onResponse(call, object) {
      // Opening a watch delivers nothing yet.
      const isRead = call.verb === 'get' && call.ref !== undefined;
      if (isRead && call.resource?.plural === 'daemonsets') consent.onDaemonSetRead(identity, object as AnyDaemonSet);
    },
    onFailure: () => undefined,
    onListed: () => undefined,
    onWatchOpened: () => undefined,
    onWatchClosed: () => undefined,
    onWatchEvent: () => undefined,
  });

  const start = (device: Device): void => {
    const { node } = device;
    device.started += 1;
    const identity = `agent-${device.started} of ${node}`;
    const machine = createMachine({
      name: identity,
      time,
      skewMs: device.skewMs,
      onTimeRead: options.onTimeRead,
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
    const log: Logger = options.logged
      ? createLogger({
          write: (line) => say(`${identity} says ${line}`),
          now: () => machine.clock.now(),
          format: 'text',
        })
      : silentLogger;
    const disk = device.disk.mount({ time, machine, faultOf: () => options.diskFault(identity) });
    say(`${identity} starts`);
    const env: Env = { clock: machine.clock, random, log };
    const client = createClient(inCluster, {
      env,
      userAgent: 'edgeset-agent/simulation',
      ...clientLimits,
      onRequest: (report) => process.serverTime.observe(report),
      ...connect(process, observerOf(process)),
    });
    runAgent(
      {
        client,
        env,
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

  /** One request of an owner, from the press of a button to the response or the timeout. */
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
        timeout.cancel();
        resolve(answer);
      };
      const timeout = time.timer(REQUEST_TIMEOUT_MS, () => end(undefined));
      process.machine.deliver(() => {
        const isRead = asked.method === 'GET';
        if (!isRead) say(`owner of ${node} ${asked.method} ${asked.path} ${asked.body ?? ''}`);
        const answered = consent.onOwnerRequest(node, process.identity, asked);
        const ask = async (): Promise<void> => {
          try {
            const answer = await request(handler, asked, () => waits);
            if (!isRead) say(`owner of ${node} receives ${answer.status} ${answer.text}`);
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
      random: createRandom(seed * 1_000 + number),
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

  const setOffline = (device: Device, offline: boolean, onEffect: () => void): void => {
    device.offline = offline;
    if (offline) device.process?.link.cut(onEffect);
    else device.process?.link.restore();
  };
  const disturb = (device: Device, operation: Extract<AgentOperation, { do: 'agent' }>, onEffect: () => void): void => {
    const { process } = device;
    if (process) onEffect();
    switch (operation.how) {
      case 'skew':
        device.skewMs = operation.ms;
        return;
      case 'cut':
        setOffline(device, true, onEffect);
        time.timer(operation.forMs, () => setOffline(device, false, onEffect));
        return;
      case 'crash':
        return process?.machine.kill();
      case 'cut-power':
        process?.machine.kill();
        return device.disk.cutPower(() => device.random() < 0.5);
      case 'stop':
        process?.machine.pause();
        time.timer(operation.forMs, () => process?.machine.resume());
        return;
    }
  };

  return {
    add,
    processOf: (identity: string): AgentProcess | undefined => running().find((each) => each.identity === identity),
    links: (): readonly Link[] => running().map(({ link }) => link),
    /** The node's link to the API server goes down or comes up. */
    setOnline(node: string, isOnline: boolean): void {
      const device = devices.get(node);
      if (device && device.offline === isOnline) setOffline(device, !isOnline, () => undefined);
    },
    /** `onEffect` is called when the operation takes effect. */
    execute(operation: AgentOperation, onEffect: () => void): void {
      const device = devices.get(operation.node);
      if (!device) return;
      switch (operation.do) {
        case 'agent':
          return disturb(device, operation, onEffect);
        case 'auto-approve':
          consent.setAutoApprove(operation.node, operation.agrees);
          return device.owner.setAutoApprove(operation.agrees);
        case 'owner':
          return void device.owner.request(operation.ask, operation.times ?? 1).then((isSent) => isSent && onEffect());
      }
    },
    recover(): void {
      for (const device of devices.values()) {
        setOffline(device, false, () => undefined);
        device.skewMs = 0;
        device.process?.machine.resume();
      }
    },
  };
};
export type Agents = ReturnType<typeof createAgents>;
