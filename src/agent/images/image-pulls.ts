import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { compareVersions, type KubeClient } from '../../kube/index.ts';
import { announcedRevision, type ImageReady, imageReadyOf, needUpgradeOf } from '../../rollout/index.ts';
import { backoffMs, type Env, sleep, untilAborted } from '../../runtime/index.ts';
import type { ImageState } from '../types.ts';
import { createConditionWriter, isRefused, type PullRequest } from './condition-writer.ts';
import type { CriClient } from './cri/client.ts';
import { DEFAULT_LIMITS, type PullLimits } from './limits.ts';
import { readPullLogins } from './pull-secrets.ts';
import { hasAllImages, pullImages } from './puller.ts';

/** A revision whose images are wanted ahead of time. */
export interface PullTarget {
  hash: string;
  template: PodTemplateSpec;
}

/** Finds the template of a revision that was asked for a pod. */
export type TargetOf = (pod: Pod, hash: string) => Promise<PullTarget | undefined>;

export interface ImagePullsOptions {
  client: KubeClient;
  env: Env;
  /** The container runtime's; without one the agent only asks, and the manager runs a pod that pulls. */
  criSocket: string | undefined;
  limits?: Partial<PullLimits>;
}

export interface ImagePulls {
  /**
   * Asks for the images of `target`: resolves when `PodImageReady` says so, and rejects with the `KubeError` when that
   * could not be written, or with the reason of `signal`, which ends
   * the wait only. With a container runtime the pull goes on in the background. The same pod and revision again
   * is one pull while it lasts; once it is over, images that the node has removed since are pulled again.
   */
  request(pod: Pod, target: PullTarget, signal: AbortSignal): Promise<void>;
  /**
   * Call with all pods of this node whenever they change. Ends pulls for pods that are gone, are going, or are no
   * longer to run that revision, and takes up those that an agent before this one did not finish. Call it also when the
   * link is back: an answer of undefined from `targetOf` leaves that to the next call. After an error it is asked again by
   * itself, ever less often, and no more once the API server has refused it a few times.
   */
  follow(pods: readonly Pod[], targetOf: TargetOf): void;
  /** What is known of the images that were asked for this pod. */
  state(podUid: string): { state: ImageState; message: string } | undefined;
  /** Says once whether the container runtime answers; pulls until `signal` aborts, and then ends them all. */
  run(signal: AbortSignal): Promise<void>;
}

interface Job extends PullRequest {
  /** Of the pod as it was when asked: older views of it say nothing about this request. */
  resourceVersion: string;
  cancel: AbortController;
  /** Aborts with `cancel`, and with the agent. */
  signal: AbortSignal;
  /** Settles when the request is written. */
  written: Promise<void>;
  /** Settles with the end of the job; never rejects. */
  over: Promise<void>;
  /** What went wrong so far. */
  message: string;
}

/** The newest that is known of a pod. */
interface Seen {
  resourceVersion: string;
  told: ImageReady | undefined;
}

const seenOf = (pod: Pod): Seen => ({
  resourceVersion: pod.metadata?.resourceVersion ?? '',
  told: imageReadyOf(pod),
});

/** Versions that cannot be compared count as equal. */
const isOlder = (a: string, b: string): boolean => (compareVersions(a, b) ?? 0) < 0;

const stateOf: Readonly<Record<string, ImageState>> = {
  PullingImage: 'pulling',
  PullImageSuccess: 'ready',
  PullImageFail: 'failed',
};

/**
 * The revision whose images a pod is to get: the one that is announced to its owner; where the manager updates, and so
 * announces nothing, the one that it asks for.
 */
const wantedRevision = (pod: Pod): string | undefined => {
  const need = needUpgradeOf(pod);
  if (need) return need.status === 'True' ? announcedRevision(need) : undefined;
  return imageReadyOf(pod)?.revision;
};

/** How taking up a pull went so far; with `MOST_REFUSALS` it is left until somebody asks again. */
interface Trouble {
  revision: string;
  failures: number;
  refusals: number;
  /** Of the last refusal. */
  message: string;
}

const MOST_REFUSALS = 6;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isSuperseded = (job: Job, pod: Pod): boolean => {
  if (pod.metadata?.deletionTimestamp) return true;
  if (isOlder(pod.metadata?.resourceVersion ?? '', job.resourceVersion)) return false;
  return wantedRevision(pod) !== job.revision;
};

/** `work`, or the signal's reason as soon as it aborts; the work itself goes on. */
const until = async (signal: AbortSignal, work: Promise<void>): Promise<void> => {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

export const createImagePulls = (options: ImagePullsOptions): ImagePulls => {
  const { client, env, criSocket } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const report = createConditionWriter(client, env, limits, criSocket !== undefined);
  const stopped = new AbortController();
  const jobs = new Map<string, Job>();
  const seen = new Map<string, Seen>();
  const resuming = new Set<string>();
  const troubles = new Map<string, Trouble>();
  let latest: { pods: readonly Pod[]; targetOf: TargetOf } | undefined;
  let listed: ReadonlySet<string> = new Set();

  let loaded: Promise<CriClient> | undefined;
  const runtime = (socket: string): Promise<CriClient> => {
    loaded ??= import('./cri/client.ts').then(({ createCriClient }) => createCriClient(socket, env.clock));
    return loaded;
  };

  const pull = async (job: Job, socket: string, target: PullTarget): Promise<void> => {
    const { signal } = job;
    const { spec } = target.template;
    if (!spec) return;
    const puller = {
      cri: await runtime(socket),
      env,
      limits,
      logins: (within: AbortSignal) => readPullLogins(client, job.namespace, spec, within),
      onRetry: (cause: string) => {
        job.message = `trying again: ${cause}`;
        env.log.warn('an image could not be pulled yet', { pod: `${job.namespace}/${job.name}`, cause });
      },
    };
    let result = await pullImages(puller, spec, signal);
    // Without a link to the API server there was likely none to the registry: that is no failure of the image.
    while (result.kind === 'failed' && (await report.wasDisconnected(job, signal)))
      result = await pullImages(puller, spec, signal);
    const told =
      result.kind === 'ready'
        ? ({ reason: 'PullImageSuccess' } as const)
        : ({ reason: 'PullImageFail', cause: result.cause } as const);
    const settled = await report.settle(job, told, signal);
    if (settled.kind === 'written') seen.set(job.uid, seenOf(settled.pod));
    if (settled.kind !== 'refused') return;
    const message = `the API server does not take the report: ${settled.message}`;
    troubles.set(job.uid, { revision: job.revision, failures: 0, refusals: MOST_REFUSALS, message });
    env.log.error('what became of an image pull cannot be reported', { pod: `${job.namespace}/${job.name}`, message });
  };

  const troubleOf = (uid: string, revision: string): Trouble => {
    const found = troubles.get(uid);
    return found?.revision === revision ? found : { revision, failures: 0, refusals: 0, message: '' };
  };

  /** `before` is the pod's pull for another revision. */
  const start = (pod: Pod, target: PullTarget, before?: Job): Job => {
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = pod.metadata ?? {};
    const cancel = new AbortController();
    const signal = AbortSignal.any([cancel.signal, stopped.signal]);
    const asked = { namespace, name, uid, revision: target.hash };
    const write = async (): Promise<void> => {
      // What the earlier one may still be writing must not come after this.
      await before?.over;
      const told = imageReadyOf(pod)?.status;
      seen.set(uid, seenOf(await report.write(asked, told, { reason: 'PullingImage' }, signal)));
    };
    const written = write();
    const carryOut = async (): Promise<void> => {
      try {
        await written;
        if (criSocket !== undefined) await pull(job, criSocket, target);
      } catch (error) {
        if (!signal.aborted) env.log.error('an image pull ended unexpectedly', { pod: `${namespace}/${name}`, error });
      } finally {
        if (jobs.get(uid) === job) jobs.delete(uid);
      }
    };
    const job: Job = { ...asked, resourceVersion, cancel, signal, written, over: Promise.resolve(), message: '' };
    job.over = carryOut();
    jobs.set(uid, job);
    return job;
  };

  /** Whether the images were reported ready and, as far as the runtime can be asked, still are. */
  const isReady = async (pod: Pod, { hash, template }: PullTarget, signal: AbortSignal): Promise<boolean> => {
    const told = imageReadyOf(pod);
    if (told?.status !== 'True' || told.revision !== hash) return false;
    if (criSocket === undefined || !template.spec) return true;
    // A runtime that does not answer is the pull's to complain of.
    return hasAllImages(await runtime(criSocket), template.spec, signal).catch(() => false);
  };

  /** Takes up what an agent before this one has begun, or the manager asks for: the pod says that its images are pulled. */
  const resume = (pod: Pod, told: ImageReady | undefined, targetOf: TargetOf): void => {
    const uid = pod.metadata?.uid ?? '';
    if (criSocket === undefined || resuming.has(uid) || pod.metadata?.deletionTimestamp) return;
    if (told?.reason !== 'PullingImage' || told.revision === '') return;
    const { revision } = told;
    if (wantedRevision(pod) !== revision) return;
    if (troubleOf(uid, revision).refusals >= MOST_REFUSALS) return;
    const find = async (): Promise<void> => {
      try {
        const target = await targetOf(pod, revision);
        if (target?.hash === revision && !jobs.has(uid)) await start(pod, target).written;
        if (target) troubles.delete(uid);
        resuming.delete(uid);
      } catch (error) {
        const { failures, refusals } = troubleOf(uid, revision);
        const next = { revision, failures: failures + 1, refusals: refusals + (isRefused(error) ? 1 : 0), message: '' };
        if (next.refusals >= MOST_REFUSALS) next.message = `the pull cannot be taken up: ${textOf(error)}`;
        troubles.set(uid, next);
        env.log[next.failures === 1 ? 'warn' : 'debug']('an image pull cannot be taken up yet', { error });
        if (next.message !== '') env.log.error('an image pull is left', { message: next.message });
        // Until then nobody else tries.
        await sleep(env.clock, backoffMs(next.failures, limits.reportBackoff, env.random), stopped.signal).catch(
          () => undefined,
        );
        resuming.delete(uid);
        if (latest && !stopped.signal.aborted) follow(latest.pods, latest.targetOf);
      }
    };
    resuming.add(uid);
    void find();
  };

  const follow = (pods: readonly Pod[], targetOf: TargetOf): void => {
    latest = { pods, targetOf };
    const present = new Set(pods.map(({ metadata }) => metadata?.uid ?? ''));
    for (const uid of listed) if (!present.has(uid)) jobs.get(uid)?.cancel.abort(new Error('the pod is gone'));
    listed = present;
    for (const uid of seen.keys()) if (!present.has(uid) && !jobs.has(uid)) seen.delete(uid);
    for (const uid of troubles.keys()) if (!present.has(uid)) troubles.delete(uid);

    for (const pod of pods) {
      const uid = pod.metadata?.uid ?? '';
      const now = seenOf(pod);
      // What was written just now may not have come back through the watch yet.
      if (isOlder(now.resourceVersion, seen.get(uid)?.resourceVersion ?? '')) continue;
      seen.set(uid, now);
      const job = jobs.get(uid);
      if (!job) resume(pod, now.told, targetOf);
      else if (isSuperseded(job, pod))
        job.cancel.abort(new Error('the pod is going, or no longer to run this revision'));
    }
  };

  return {
    async request(pod, target, signal) {
      const uid = pod.metadata?.uid ?? '';
      troubles.delete(uid);
      const current = jobs.get(uid);
      if (current?.revision === target.hash) return until(signal, current.written);
      if (!current && (await isReady(pod, target, signal))) return;
      signal.throwIfAborted();
      // Another request may have come while the runtime was asked.
      const now = jobs.get(uid);
      if (now?.revision === target.hash) return until(signal, now.written);
      now?.cancel.abort(new Error('another revision was asked for'));
      return until(signal, start(pod, target, now).written);
    },

    follow,

    state(podUid) {
      const job = jobs.get(podUid);
      if (job) return { state: 'pulling', message: job.message };
      const told = seen.get(podUid)?.told;
      const trouble = told?.reason === 'PullingImage' ? troubleOf(podUid, told.revision) : undefined;
      if (trouble && trouble.message !== '') return { state: 'failed', message: trouble.message };
      return told && { state: stateOf[told.reason] ?? 'unknown', message: told.message };
    },

    async run(signal) {
      const aborted = untilAborted(signal);
      if (criSocket !== undefined && !signal.aborted) {
        try {
          const { runtime: name, problems } = await (await runtime(criSocket)).check(signal);
          env.log.info('images are pulled by the container runtime', { runtime: name, socket: criSocket, problems });
        } catch (error) {
          if (!signal.aborted) env.log.error('the container runtime cannot be asked to pull images', { error });
        }
      }
      await aborted;
      stopped.abort(signal.reason);
      await Promise.all([...jobs.values()].map(({ over }) => over));
    },
  };
};
