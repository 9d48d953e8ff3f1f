import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { ApiServer } from '../../../embedded/index.ts';
import { type ClockSkew, createClockSkew, leases } from '../../../src/kube/index.ts';
import { type Clients, createClients } from '../../../src/leading/index.ts';
import { type Clock, createLogger, createRandom, type Env, silentLogger } from '../../../src/runtime/index.ts';
import type { ProcessState } from '../../judge/check.ts';
import type { Checker } from '../../judge/checker.ts';
import { createProcessView, type ProcessView } from '../../judge/state/process-view.ts';
import type { Transport } from '../network/connection.ts';
import type { ProcessObserver } from '../network/connection-options.ts';
import { inCluster } from '../network/credentials.ts';
import { createLink, type Link } from '../network/link.ts';
import type { Prometheus } from '../network/prometheus.ts';
import { followUnanswered, type Unanswered } from '../network/unanswered.ts';
import type { DaemonSetPlan, Plan } from '../plan/plan.ts';
import { createMachine, type Machine } from './machine.ts';
import { type Part, runManager } from './manager.ts';

/** The caches accept what a response says of these. */
const ANSWERED: ReadonlySet<string> = new Set(['pods', 'daemonsets']);

export interface ManagerProcess {
  identity: string;
  machine: Machine;
  link: Link;
  serverTime: ClockSkew;
  unanswered: Unanswered;
  /** One for each DaemonSet of the plan. */
  views: readonly ProcessView[];
}

export interface ManagersOptions {
  plan: Plan;
  time: Clock;
  random: () => number;
  apiServer: ApiServer;
  latencyMs: number;
  restartMs: number;
  daemonSets: readonly { kind: DaemonSetPlan['kind']; ref: { group: string; name: string } }[];
  connect: (process: ManagerProcess, observer: ProcessObserver, part: Part) => Transport;
  prometheus: Prometheus;
  /** The API server accepts the calls of processes. */
  isServed: () => boolean;
  observer: () => Pick<Checker, 'onResponse' | 'onFailure' | 'onWatchOpened' | 'onWatchEvent' | 'onWatchClosed'>;
  /** A process has read this time. */
  onTimeRead: (at: number) => void;
  say: (line: string) => void;
  /** Record what managers log, too. */
  logged: boolean;
}

const LEASE = { namespace: 'default', name: 'edgeset-manager' };

const stateOf = (
  { identity, machine, link }: ManagerProcess,
  { isServed }: Pick<ManagersOptions, 'isServed'>,
): ProcessState => ({
  name: identity,
  get running() {
    return machine.state === 'running';
  },
  get up() {
    return link.up && isServed();
  },
});

/** The managers of a plan. A process that dies is replaced, as by a kubelet. */
export const createManagers = (options: ManagersOptions) => {
  const { plan, time, random, daemonSets, say } = options;
  /** All that were ever started, by identity. */
  const processes = new Map<string, ManagerProcess>();
  /** Cached: states of those that have not died. */
  let states: readonly ProcessState[] = [];
  let present: ManagerProcess[] = [];
  let restarting = 0;
  let skewMs = 0;
  /** For the processes that start next. */
  const plannedSkews: { ms: number; onEffect: () => void }[] = [];
  const kinds = [...new Set(daemonSets.map(({ kind }) => kind))];

  const nextSkew = (): number => {
    const next = plannedSkews.shift();
    if (next) {
      skewMs = next.ms;
      next.onEffect();
    }
    return skewMs;
  };

  /** Each controller has its own caches: what one has observed another may not know. */
  const clientsOf = (process: ManagerProcess, part: Part, env: Env): Clients => {
    const { identity, unanswered } = process;
    const checker = options.observer();
    const views = process.views.filter((_, index) => daemonSets[index]?.kind === part);
    /** Lists that no watch has followed yet. */
    const listed = new Map<string, readonly object[]>();
    const observeList = (watch: string, plural: string, items: readonly object[]): void => {
      for (const view of views) {
        view.beginSnapshot(watch);
        for (const object of items) view.applyEvent(watch, plural, { type: 'ADDED', object });
        view.applyEvent(watch, plural, { type: 'BOOKMARK', resourceVersion: '', initialEventsEnd: true });
      }
    };
    const named = (watch: string): string => (kinds.length > 1 ? `${watch} ${part}` : watch);
    const observed: ProcessObserver = {
      onSend: unanswered.onSend,
      onResponse(call, object) {
        unanswered.onResponse(call);
        checker.onResponse(call, object);
        const { plural = '' } = call.resource ?? {};
        if (!ANSWERED.has(plural) || call.verb === 'list' || !object) return;
        for (const view of views) view.applyResponse(plural, object);
      },
      onFailure(call, status) {
        unanswered.onFailure(call, status);
        checker.onFailure(call, status);
      },
      onListed(watch, plural, items) {
        // Pods are also listed beside their watch. The watch of others may take long to be opened, and is not waited for.
        if (plural === 'pods') listed.set(watch, items);
        else observeList(watch, plural, items);
      },
      onWatchOpened(watch, plural, withSnapshot) {
        checker.onWatchOpened(identity, named(watch), plural, withSnapshot);
        const items = listed.get(watch);
        listed.delete(watch);
        if (withSnapshot) for (const view of views) view.beginSnapshot(watch);
        else if (items) observeList(watch, plural, items);
      },
      onWatchEvent(watch, plural, event) {
        for (const view of views) view.applyEvent(watch, plural, event);
        checker.onWatchEvent(identity, named(watch), plural, event);
      },
      onWatchClosed(watch, plural) {
        listed.delete(watch);
        checker.onWatchClosed(identity, named(watch), plural);
      },
    };
    return createClients(inCluster, {
      program: 'manager',
      env,
      version: 'simulation',
      onRequest: (report) => process.serverTime.observe(report),
      ...options.connect(process, observed, part),
    });
  };

  const start = (): ManagerProcess => {
    const number = processes.size + 1;
    const identity = `manager-${number}`;
    const machine = createMachine({
      name: identity,
      time,
      skewMs: nextSkew() + (number % 2 === 0 ? (plan.clocksApartMs ?? 0) : 0),
      onTimeRead: options.onTimeRead,
      killed() {
        say(`${identity} dies`);
        states = states.filter(({ name }) => name !== identity);
        replaceDead();
      },
    });
    const link = createLink({ time, random, latencyMs: options.latencyMs });
    const views = daemonSets.map(({ ref }) => createProcessView(ref, () => machine.clock.now()));
    const serverTime = createClockSkew(machine.clock);
    const unanswered = followUnanswered(time);
    const process: ManagerProcess = { identity, machine, link, serverTime, unanswered, views };
    processes.set(identity, process);
    states = [...states, stateOf(process, options)];
    const write = (line: string): void => say(`${identity} says ${line}`);
    const log = options.logged ? createLogger({ write, now: () => machine.clock.now(), format: 'text' }) : silentLogger;
    const env: Env = { clock: machine.clock, random: createRandom(plan.seed + number), log };
    runManager(
      {
        clientsOf: (part) => clientsOf(process, part, env),
        env,
        identity,
        controllers: kinds,
        aheadMs: () => serverTime.aheadMs(),
        askPrometheus: options.prometheus.senderOf(machine),
      },
      new AbortController().signal,
    ).catch((error: unknown) => {
      // A manager that cannot tell what became of its writes ends, and its pod is started again.
      say(`${identity} ended: ${String(error)}`);
      machine.kill();
    });
    say(`${identity} starts`);
    return process;
  };
  const replaceDead = (): void => {
    present = present.filter(({ machine }) => machine.state !== 'dead');
    while (present.length + restarting < plan.managers) {
      restarting += 1;
      time.timer(options.restartMs, () => {
        restarting -= 1;
        present.push(start());
      });
    }
  };

  return {
    start(): void {
      present = Array.from({ length: plan.managers }, start);
    },
    find: (identity: string): ManagerProcess | undefined => processes.get(identity),
    states: (): readonly ProcessState[] => states,
    links: (): readonly Link[] => present.map(({ link }) => link),
    /** The manager that holds the lease, or one that does not. */
    choose(who: 'leader' | 'other'): ManagerProcess | undefined {
      const holder = options.apiServer.find<Lease>(leases, LEASE)?.spec?.holderIdentity;
      const leader = present.find(({ identity }) => identity === holder);
      return who === 'leader' ? leader : present.find((each) => each !== leader);
    },
    /** The clock of the next process that starts, and of those after it, is off by this much. */
    planSkew: (ms: number, onEffect: () => void): void => void plannedSkews.push({ ms, onEffect }),
    resume(): void {
      for (const { machine } of present) machine.resume();
    },
    restoreLinks(): void {
      for (const { link } of present) link.restore();
    },
    recover(): void {
      for (const { machine, link } of present) {
        link.restore();
        machine.resume();
      }
    },
    /** No manager is stopped or cut off, or has a watch that is late or has fallen silent. */
    areHealthy: (): boolean =>
      present.every(({ machine, link }) => machine.state === 'running' && link.up && !link.silent && !link.late),
    /** No manager waits for the response to a call, or may have to send again one that was lost. */
    areAnswered: (): boolean => present.every(({ unanswered }) => !unanswered.areAny()),
    /** When a manager last was out of touch, actual time. */
    lastOutOfTouchAt: (): number =>
      Math.max(
        ...present.flatMap(({ machine, views }) =>
          views.map(({ outOfTouchAt }) => time.now() - (machine.clock.now() - outOfTouchAt)),
        ),
      ),
  };
};
export type Managers = ReturnType<typeof createManagers>;
