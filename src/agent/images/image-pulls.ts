import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { compareVersions, type KubeClient } from '../../kube/index.ts';
import { announcedRevision, type ImageReady, imageReadyOf, needUpgradeOf } from '../../rollout/index.ts';
import { backoffMs, type Env, errorText, linkedController, sleep, untilAborted } from '../../runtime/index.ts';
import type { ImageState } from '../types.ts';
import { createConditionWriter, isRefused, type PullRequest } from './condition-writer.ts';
import type { CriClient } from './cri/client.ts';
import { readPullLogins } from './keyring.ts';
import { DEFAULT_LIMITS, hasAllImages, type PullLimits, pullImages } from './puller.ts';

/** A revision whose images to pull before the update. */
export interface PullTarget {
  hash: string;
  template: PodTemplateSpec;
}

/** Finds the template of the revision whose images were requested for a pod. */
export type TargetOf = (pod: Pod, hash: string) => Promise<PullTarget | undefined>;

export interface ImagePullsOptions {
  client: KubeClient;
  env: Env;
  /** The container runtime's socket. Without one, the agent only requests the pull, and the manager runs a pod that pulls. */
  criSocket: string | undefined;
  limits?: Partial<PullLimits>;
}

export interface ImagePulls {
  /**
   * Requests the images of `target`. Resolves when the request is written to `PodImageReady`; rejects with the `KubeError`
   * when that fails, or with the reason of `signal`, which only stops waiting. With a container runtime, the pull continues
   * in the background. Requests for the same pod and revision share one pull while it runs; a later request pulls the
   * images again that the node has removed since.
   */
  request(pod: Pod, target: PullTarget, signal: AbortSignal): Promise<void>;
  /**
   * Call it with all pods of this node whenever they change, and when the connection is back. Cancels pulls for pods that
   * are gone, are terminating, or have another target by now, and resumes pulls that a previous agent did not finish. When
   * `targetOf` resolves to undefined, the next call resumes them. Errors of `targetOf` are retried with backoff, until the
   * API server has rejected the request several times.
   */
  follow(pods: readonly Pod[], targetOf: TargetOf): void;
  /** The state of the images that were requested for this pod. */
  state(podUid: string): { state: ImageState; message: string } | undefined;
  /** Logs once whether the container runtime answers. Pulls until `signal` aborts, then cancels all pulls. */
  run(signal: AbortSignal): Promise<void>;
}

interface Job extends PullRequest {
  /** Of the pod at the time of the request: older versions of the pod say nothing about it. */
  resourceVersion: string;
  /** Aborts when the agent stops, too. */
  cancel: AbortController;
  /** Settles when the request is written to the condition. */
  written: Promise<void>;
  /** Resolves at the end of the job; never rejects. */
  done: Promise<void>;
  /** The last error. */
  message: string;
}

/** The newest known version of a pod. */
interface Seen {
  resourceVersion: string;
  condition: ImageReady | undefined;
}

const seenOf = (pod: Pod): Seen => ({
  resourceVersion: pod.metadata?.resourceVersion ?? '',
  condition: imageReadyOf(pod),
});

/** Versions that can't be compared count as equal. */
const isOlder = (a: string, b: string): boolean => (compareVersions(a, b) ?? 0) < 0;

const stateOf: Readonly<Record<string, ImageState>> = {
  PullingImage: 'pulling',
  PullImageSuccess: 'ready',
  PullImageFail: 'failed',
};

/**
 * The revision whose images a pod needs: the one announced to its owner or, where the manager updates by itself and
 * announces nothing, the one that the manager requests.
 */
const wantedRevision = (pod: Pod): string | undefined => {
  const need = needUpgradeOf(pod);
  if (need) return need.status === 'True' ? announcedRevision(need) : undefined;
  return imageReadyOf(pod)?.revision;
};

/** Failed attempts to resume a pull. After `MAX_REFUSALS`, it is abandoned until someone requests it again. */
interface ResumeFailures {
  revision: string;
  failures: number;
  refusals: number;
  /** Why it was abandoned; empty while it is retried. */
  message: string;
}

const MAX_REFUSALS = 6;

const isSuperseded = (job: Job, pod: Pod): boolean => {
  if (pod.metadata?.deletionTimestamp) return true;
  if (isOlder(pod.metadata?.resourceVersion ?? '', job.resourceVersion)) return false;
  return wantedRevision(pod) !== job.revision;
};

/** Waits for `work`; rejects with the signal's reason as soon as it aborts. The work itself continues. */
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
  const conditions = createConditionWriter(client, env, limits, criSocket !== undefined);
  const stopped = new AbortController();
  const jobs = new Map<string, Job>();
  const seen = new Map<string, Seen>();
  const resuming = new Set<string>();
  const resumeFailures = new Map<string, ResumeFailures>();
  let latest: { pods: readonly Pod[]; targetOf: TargetOf } | undefined;
  let listed: ReadonlySet<string> = new Set();

  let loaded: Promise<CriClient> | undefined;
  const runtime = (socket: string): Promise<CriClient> => {
    loaded ??= import('./cri/client.ts').then(({ createCriClient }) => createCriClient(socket, env.clock));
    return loaded;
  };

  const pull = async (job: Job, socket: string, target: PullTarget): Promise<void> => {
    const { signal } = job.cancel;
    const { spec } = target.template;
    if (!spec) return;
    const puller = {
      cri: await runtime(socket),
      env,
      limits,
      logins: (within: AbortSignal) => readPullLogins(client, job.namespace, spec, within),
      onRetry: (cause: string) => {
        job.message = `retrying: ${cause}`;
        env.log.warn('failed to pull an image: retrying', { pod: `${job.namespace}/${job.name}`, cause });
      },
    };
    let result = await pullImages(puller, spec, signal);
    // If the API server was unreachable, the registry likely was, too: that doesn't count as a failed pull.
    while (result.kind === 'failed' && (await conditions.wasDisconnected(job, signal)))
      result = await pullImages(puller, spec, signal);
    const outcome =
      result.kind === 'ready'
        ? ({ reason: 'PullImageSuccess' } as const)
        : ({ reason: 'PullImageFail', cause: result.cause } as const);
    const reported = await conditions.report(job, outcome, signal);
    if (reported.kind === 'written') seen.set(job.uid, seenOf(reported.pod));
    if (reported.kind !== 'refused') return;
    const message = `the API server rejects the report: ${reported.message}`;
    resumeFailures.set(job.uid, { revision: job.revision, failures: 0, refusals: MAX_REFUSALS, message });
    env.log.error('giving up on reporting an image pull', { pod: `${job.namespace}/${job.name}`, message });
  };

  const resumeFailuresOf = (uid: string, revision: string): ResumeFailures => {
    const found = resumeFailures.get(uid);
    return found?.revision === revision ? found : { revision, failures: 0, refusals: 0, message: '' };
  };

  /** `before` is the pod's earlier pull for another revision. */
  const start = (pod: Pod, target: PullTarget, before?: Job): Job => {
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = pod.metadata ?? {};
    const { controller: cancel, unlink } = linkedController(stopped.signal);
    const { signal } = cancel;
    const request = { namespace, name, uid, revision: target.hash };
    const write = async (): Promise<void> => {
      // A pending write of the earlier job must not overwrite this one.
      await before?.done;
      const status = imageReadyOf(pod)?.status;
      seen.set(uid, seenOf(await conditions.write(request, status, { reason: 'PullingImage' }, signal)));
    };
    const written = write();
    const runJob = async (): Promise<void> => {
      try {
        await written;
        if (criSocket !== undefined) await pull(job, criSocket, target);
      } catch (error) {
        if (!signal.aborted) env.log.error('image pull failed', { pod: `${namespace}/${name}`, error });
      } finally {
        if (jobs.get(uid) === job) jobs.delete(uid);
        unlink();
      }
    };
    const job: Job = { ...request, resourceVersion, cancel, written, done: Promise.resolve(), message: '' };
    job.done = runJob();
    jobs.set(uid, job);
    return job;
  };

  /** Whether the images were reported ready and, according to the runtime if there is one, still are. */
  const isReady = async (pod: Pod, { hash, template }: PullTarget, signal: AbortSignal): Promise<boolean> => {
    const condition = imageReadyOf(pod);
    if (condition?.status !== 'True' || condition.revision !== hash) return false;
    if (criSocket === undefined || !template.spec) return true;
    // If the runtime does not answer, the pull reports that.
    return hasAllImages(await runtime(criSocket), template.spec, signal).catch(() => false);
  };

  /** Resumes a pull that a previous agent started or the manager requests: the pod's condition says that it is in progress. */
  const resume = (pod: Pod, condition: ImageReady | undefined, targetOf: TargetOf): void => {
    const uid = pod.metadata?.uid ?? '';
    if (criSocket === undefined || resuming.has(uid) || pod.metadata?.deletionTimestamp) return;
    if (condition?.reason !== 'PullingImage' || condition.revision === '') return;
    const { revision } = condition;
    if (wantedRevision(pod) !== revision) return;
    if (resumeFailuresOf(uid, revision).refusals >= MAX_REFUSALS) return;
    const find = async (): Promise<void> => {
      try {
        const target = await targetOf(pod, revision);
        if (target?.hash === revision && !jobs.has(uid)) await start(pod, target).written;
        if (target) resumeFailures.delete(uid);
        resuming.delete(uid);
      } catch (error) {
        const { failures, refusals } = resumeFailuresOf(uid, revision);
        const next = { revision, failures: failures + 1, refusals: refusals + (isRefused(error) ? 1 : 0), message: '' };
        if (next.refusals >= MAX_REFUSALS) next.message = `cannot resume the pull: ${errorText(error)}`;
        resumeFailures.set(uid, next);
        env.log[next.failures === 1 ? 'warn' : 'debug']('failed to resume an image pull', { error });
        if (next.message !== '') env.log.error('giving up on resuming an image pull', { message: next.message });
        // `resuming` keeps other calls from trying until then.
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

  const followOne = (pod: Pod, targetOf: TargetOf): void => {
    const uid = pod.metadata?.uid ?? '';
    const now = seenOf(pod);
    // The watch may not have delivered our own last write yet.
    if (isOlder(now.resourceVersion, seen.get(uid)?.resourceVersion ?? '')) return;
    seen.set(uid, now);
    const job = jobs.get(uid);
    if (!job) resume(pod, now.condition, targetOf);
    else if (isSuperseded(job, pod)) job.cancel.abort(new Error('the pod is terminating or has another target'));
  };

  const follow = (pods: readonly Pod[], targetOf: TargetOf): void => {
    latest = { pods, targetOf };
    const present = new Set(pods.map(({ metadata }) => metadata?.uid ?? ''));
    for (const uid of listed) if (!present.has(uid)) jobs.get(uid)?.cancel.abort(new Error('the pod is gone'));
    listed = present;
    for (const uid of seen.keys()) if (!present.has(uid) && !jobs.has(uid)) seen.delete(uid);
    for (const uid of resumeFailures.keys()) if (!present.has(uid)) resumeFailures.delete(uid);

    for (const pod of pods) {
      try {
        followOne(pod, targetOf);
      } catch (error) {
        // The other pods' pulls go on.
        env.log.error('failed to follow the image pulls of a pod', { pod: pod.metadata?.name, error });
      }
    }
  };

  return {
    async request(pod, target, signal) {
      const uid = pod.metadata?.uid ?? '';
      resumeFailures.delete(uid);
      const current = jobs.get(uid);
      if (current?.revision === target.hash) return until(signal, current.written);
      if (!current && (await isReady(pod, target, signal))) return;
      signal.throwIfAborted();
      // Another request may have started while the runtime was being asked.
      const now = jobs.get(uid);
      if (now?.revision === target.hash) return until(signal, now.written);
      now?.cancel.abort(new Error('another revision was requested'));
      return until(signal, start(pod, target, now).written);
    },

    follow,

    state(podUid) {
      const job = jobs.get(podUid);
      if (job) return { state: 'pulling', message: job.message };
      const condition = seen.get(podUid)?.condition;
      const abandoned = condition?.reason === 'PullingImage' ? resumeFailuresOf(podUid, condition.revision) : undefined;
      if (abandoned && abandoned.message !== '') return { state: 'failed', message: abandoned.message };
      return condition && { state: stateOf[condition.reason] ?? 'unknown', message: condition.message };
    },

    async run(signal) {
      const aborted = untilAborted(signal);
      if (criSocket !== undefined && !signal.aborted) {
        try {
          const { runtime: name, problems } = await (await runtime(criSocket)).check(signal);
          env.log.info('pulling images through the container runtime', { runtime: name, socket: criSocket, problems });
        } catch (error) {
          if (!signal.aborted) env.log.error('the container runtime is unavailable: cannot pull images', { error });
        }
      }
      await aborted;
      stopped.abort(signal.reason);
      await Promise.all([...jobs.values()].map(({ done }) => done));
    },
  };
};
