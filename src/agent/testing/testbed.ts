import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createEmbeddedCluster, createInProcessClient } from '../../../embedded/index.ts';
import {
  controllerRevisions,
  daemonSets,
  type EventInput,
  type KubeClient,
  KubeError,
  type KubeObject,
  pods,
} from '../../kube/index.ts';
import { announcementPatch, needUpgradeOf } from '../../rollout/index.ts';
import { anySignal, createLogger, createVirtualClock, silentLogger, systemClock } from '../../runtime/index.ts';
import type { NeedUpgradeReason } from '../../words/index.ts';
import { type Agent, createAgent } from '../agent.ts';
import type { DecisionStore, StorageError } from '../decisions/index.ts';
import type { Refusal } from '../executor/refusal.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import { createDisk, type Disk } from '../storage/testing/index.ts';
import type { Caller, Reauthorize } from '../types.ts';
import { openDecisionsOn } from './decisions-in-memory.ts';

export type Verb = 'get' | 'delete' | 'patch';

export interface Fault {
  verb: Verb;
  plural: string;
  /**
   * `lose`: the response is lost; `hang`: no response until the caller gives up; `late`: no response, and the request reaches
   * the server a minute later; `refuse`: by the server; `first`: calls `first` before the request.
   */
  kind: 'lose' | 'hang' | 'late' | 'refuse' | 'unsent' | 'first';
  /** Whether a lost or hanging request reaches the server. */
  happened?: boolean;
  first?: () => void;
  error?: KubeError;
  fired?: boolean;
}

export const owner: Caller = { identity: 'uid:0', via: 'loopback' };
export const authorized: Reauthorize = () => Promise.resolve(undefined);

/** A device and a cluster on virtual time, with a link that can fail. */
export const createTestbed = async ({ node = 'node-1' }: { node?: string } = {}) => {
  const clock = createVirtualClock(Date.parse('2026-11-21T12:00:00Z'));
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const log =
    process.env.EDGESET_TEST_LOG === undefined
      ? silentLogger
      : createLogger({
          write: (line) => void process.stderr.write(`${line}\n`),
          now: () => clock.now(),
          level: 'debug',
        });
  /** How far the device's clock is set ahead; timers do not follow a clock that is set. */
  const wrong = { ms: 0 };
  const env = { clock: { ...clock, now: () => clock.now() + wrong.ms }, random, log };
  const cluster = createEmbeddedCluster({ env: { clock, random, log: silentLogger } });
  const { apiServer } = cluster;
  const direct = createInProcessClient(apiServer);
  for (const name of ['node-1', 'node-2']) cluster.addNode(name);
  const base = await mkdtemp(path.join(tmpdir(), 'edgeset-agent-'));

  const faults: Fault[] = [];
  const calls: { verb: Verb; plural: string; name: string; options?: unknown }[] = [];
  const events: EventInput[] = [];
  let cut = false;
  /** Makes what the agents receive of an object odd, or throw when it is read. */
  const odd: { receive: (object: KubeObject) => KubeObject } = { receive: (object) => object };
  const received = <T>(object: T): T => odd.receive(object as KubeObject) as T;

  /** The client of one agent process: it fails once the process has stopped. */
  const clientOf = (life: AbortSignal): KubeClient => {
    const request = async <T>(
      verb: Verb,
      plural: string,
      name: string,
      sent: { signal?: AbortSignal; timeoutMs?: number } | undefined,
      perform: () => Promise<T>,
    ): Promise<T> => {
      sent?.signal?.throwIfAborted();
      life.throwIfAborted();
      if (cut) throw new KubeError('Transport', 'the link is cut');
      calls.push({ verb, plural, name, options: sent });
      const fault = faults.find((one) => !one.fired && one.verb === verb && one.plural === plural);
      if (!fault) return perform();
      fault.fired = true;
      const isWrite = verb !== 'get';
      const lost = (code: 'Transport' | 'Timeout'): KubeError =>
        new KubeError(code, 'no answer came', { happened: isWrite ? 'unknown' : 'no' });
      switch (fault.kind) {
        case 'first':
          fault.first?.();
          return perform();
        case 'refuse':
          throw fault.error ?? new KubeError('Forbidden', 'a policy refuses it', { status: 403 });
        case 'unsent':
          throw new KubeError('Transport', 'connection refused');
        case 'lose':
          if (fault.happened) await perform();
          throw lost('Transport');
        case 'late':
          clock.timer(60_000, () => void perform().catch(() => undefined));
          throw lost('Transport');
        case 'hang': {
          const gone = Promise.withResolvers<never>();
          const timer = clock.timer(sent?.timeoutMs ?? 30_000, () => gone.reject(lost('Timeout')));
          const ended = anySignal(life, ...(sent?.signal ? [sent.signal] : []));
          ended.addEventListener('abort', () => gone.reject(ended.reason), { once: true });
          if (fault.happened) await perform();
          return gone.promise.finally(() => timer.cancel());
        }
      }
    };
    const broken = (): never => {
      throw new KubeError('Transport', 'the link is cut');
    };
    return {
      ...direct,
      get: (resource, ref, sent) =>
        request('get', resource.plural, ref.name, sent, async () => received(await direct.get(resource, ref, sent))),
      patch: (resource, ref, body, sent) =>
        request('patch', resource.plural, ref.name, sent, () => direct.patch(resource, ref, body, sent)),
      delete: (resource, ref, sent) =>
        request('delete', resource.plural, ref.name, sent, () => direct.delete(resource, ref, sent)),
      async list(resource, sent) {
        if (cut) broken();
        const page = await direct.list(resource, sent);
        return { ...page, items: page.items.map(received) };
      },
      async *watch(resource, sent = {}) {
        if (cut) broken();
        const end = anySignal(life, linkLife.signal, ...(sent.signal ? [sent.signal] : []));
        try {
          for await (const event of direct.watch(resource, { ...sent, signal: end }))
            yield event.type === 'BOOKMARK' ? event : { ...event, object: received(event.object) };
        } catch (error) {
          if (linkLife.signal.aborted || cut) throw new KubeError('Transport', 'the link broke');
          throw error;
        }
      },
    };
  };
  let linkLife = new AbortController();

  const device = { configured: false, safe: true, message: 'parked', asked: 0, aheadMs: 0, readNode: false };
  const safe: SafeCheck = {
    get configured() {
      return device.configured;
    },
    get last() {
      return { safe: device.asked > 0 ? device.safe : null, message: device.message };
    },
    ask() {
      device.asked += 1;
      return Promise.resolve({ safe: device.safe, message: device.message });
    },
  };

  /** What the check of the agent's rights says. */
  const rights: { refusal: Refusal | undefined } = { refusal: undefined };

  const first = createDisk();
  let started = 0;
  const lives = new Set<{
    end: AbortController;
    running: Promise<void>;
    dir: string;
    disk: Disk;
    decisions: DecisionStore;
  }>();

  /** Files are written in real time: waits until both are written completely. */
  const written = async (): Promise<void> => {
    const newest = [...lives].at(-1)?.dir ?? base;
    const endsAt = systemClock.now() + 10_000;
    for (let calm = 0; calm < 20; calm += 1) {
      if (systemClock.now() > endsAt) throw new Error('the state was not written');
      const files = await readdir(newest).catch((): string[] => []);
      const isWhole = files.length >= 2 && !files.some((file) => file.endsWith('.new'));
      if (!isWhole) calm = -1;
      await new Promise((resolve) => void setImmediate(resolve));
    }
  };

  /** Starts an agent process. `killed`: after a power cut of the previous one, with its state on disk at that time. */
  const start = async ({ killed = false } = {}) => {
    started += 1;
    const dir = path.join(base, String(started));
    let disk = first;
    const before = [...lives].at(-1);
    if (killed && before) {
      await cp(before.dir, dir, { recursive: true });
      disk = createDisk(before.disk.visible());
      before.end.abort(new Error('killed'));
      await before.running;
      lives.delete(before);
    }
    const end = new AbortController();
    const decisions = await openDecisionsOn(disk, env);
    const agent: Agent = createAgent({
      client: clientOf(end.signal),
      env,
      events: { event: (input) => void events.push(input) },
      node,
      stateDir: dir,
      timeZone: 'UTC',
      safe,
      restriction: { check: () => Promise.resolve(rights.refusal), unrestricted: false },
      readNode: device.readNode,
      decisions,
      aheadMs: () => device.aheadMs,
    });
    const life = { end, running: agent.run(end.signal), dir, disk, decisions };
    lives.add(life);
    const stop = async (): Promise<void> => {
      end.abort(new Error('stopped'));
      await life.running;
      lives.delete(life);
    };
    return { agent, decisions, stop };
  };

  let halted = false;
  let withheld: NeedUpgradeReason | undefined;
  const announceFor = (daemonSet: DaemonSet): void => {
    const { uid } = daemonSet.metadata ?? {};
    const isOwned = (object: { metadata?: { ownerReferences?: { uid: string }[] } }): boolean =>
      object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
    const revisions = apiServer.list<ControllerRevision>(controllerRevisions, { namespace: 'default' }).filter(isOwned);
    const newest = revisions.toSorted((a, b) => b.revision - a.revision)[0];
    const hash = newest?.metadata?.labels?.['controller-revision-hash'] ?? '';
    for (const pod of apiServer.list<Pod>(pods, { namespace: 'default' }).filter(isOwned)) {
      const isCurrent = pod.metadata?.labels?.['controller-revision-hash'] === hash;
      const reason: NeedUpgradeReason = isCurrent ? 'UpToDate' : (withheld ?? (halted ? 'Halted' : 'NewRevision'));
      const told = needUpgradeOf(pod);
      const message = `controllerrevision: ${hash}`;
      if (hash === '' || (told?.reason === reason && told.message === message)) continue;
      const body = announcementPatch(
        { uid: pod.metadata?.uid ?? '', announced: told },
        { reason, revision: hash },
        clock.now(),
      );
      const ref = { namespace: 'default', name: pod.metadata?.name ?? '' };
      apiServer.patch(pods, ref, body, { type: 'strategic', subresource: 'status' });
    }
  };
  /** Announces updates like the manager. */
  let due = false;
  const announce = (): void => {
    if (due) return;
    due = true;
    clock.timer(20, () => {
      due = false;
      for (const daemonSet of apiServer.list<DaemonSet>(daemonSets, { namespace: 'default' })) announceFor(daemonSet);
    });
  };
  apiServer.subscribe(({ resource }) => {
    if (resource.plural === 'pods' || resource.plural === 'controllerrevisions') announce();
  });

  const template = (image: string, name = 'app'): object => ({
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'app', image }] },
  });
  const deploy = (annotations: Record<string, string> = {}, name = 'app'): void => {
    apiServer.create<object>(daemonSets, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name,
        namespace: 'default',
        annotations: { 'apps.openyurt.io/update-strategy': 'ota', ...annotations },
      },
      spec: {
        selector: { matchLabels: { app: name } },
        updateStrategy: { type: 'OnDelete' },
        template: template('app:v1', name),
      },
    });
  };
  const patchDaemonSet = (body: object, name = 'app'): void => {
    apiServer.patch(daemonSets, { namespace: 'default', name }, body, { type: 'merge' });
  };
  const here = (): readonly Pod[] => apiServer.list<Pod>(pods, { fieldSelector: `spec.nodeName=${node}` });

  return {
    clock,
    /** Sets the device's clock forward, or back. */
    setClock(byMs: number): void {
      wrong.ms += byMs;
    },
    env,
    apiServer,
    cluster,
    calls,
    faults,
    odd,
    events,
    device,
    rights,
    start,
    /** The decisions of the newest agent. */
    decisions: (): DecisionStore | undefined => [...lives].at(-1)?.decisions,
    /** Saving decisions fails with this error; undefined: it works again. */
    failSaves(error: StorageError | undefined): void {
      for (const { disk } of lives) disk.failure = error && (() => error);
    },
    written,
    /** A state file of the agent, as it is on disk. */
    saved: (name: string): Promise<string> => readFile(path.join([...lives].at(-1)?.dir ?? base, name), 'utf8'),
    /** Modification times of the agent's state files. */
    async modified() {
      const { dir } = [...lives].at(-1) ?? { dir: base };
      const files = await readdir(dir);
      return Promise.all(files.map(async (file) => [file, (await stat(path.join(dir, file))).mtimeMs]));
    },
    deploy,
    patchDaemonSet,
    setImage: (image: string, name = 'app'): void =>
      patchDaemonSet({ spec: { template: template(image, name) } }, name),
    /** Withholds the new version from this device for this reason; undefined offers it again. */
    withhold: (reason: NeedUpgradeReason | undefined): void => {
      withheld = reason;
      announce();
    },
    halt: (to: boolean): void => {
      halted = to;
      announce();
    },
    pods: here,
    pod: (): Pod => {
      const [pod, ...others] = here();
      if (!pod || others.length > 0) throw new Error(`there are ${others.length + (pod ? 1 : 0)} pods`);
      return pod;
    },
    ref: () => ({ namespace: 'default', name: here()[0]?.metadata?.name ?? '' }),
    deletes: () => calls.filter(({ verb }) => verb === 'delete').length,
    cut(to: boolean) {
      cut = to;
      if (!to) return;
      linkLife.abort(new Error('cut'));
      linkLife = new AbortController();
    },
    async advance(ms: number) {
      await clock.advance(ms);
    },
    /** Advances the time until `done`, at most by `limitMs`. */
    async until(what: string, done: () => boolean, limitMs = 60_000) {
      for (let passed = 0; !done(); passed += 100) {
        if (passed > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
        await clock.advance(100);
      }
    },
    async close() {
      for (const { end, running } of lives) {
        end.abort(new Error('closed'));
        await running;
      }
      cluster.close();
      await rm(base, { recursive: true, force: true });
    },
  };
};
export type Testbed = Awaited<ReturnType<typeof createTestbed>>;
