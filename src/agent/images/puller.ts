import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { type BackoffOptions, backoffMs, type Env, errorText, sleep } from '../../runtime/index.ts';
import type { CriClient } from './cri/client.ts';
import { CriError } from './cri/errors.ts';
import { type DiskMargin, whyNoRoom } from './disk-space.ts';
import { imagesOf, repositoryOf, type WantedImage } from './image-references.ts';
import type { PullLogins } from './keyring.ts';

/** Bounds of one request for the images of a revision. */
export interface PullLimits {
  /** Attempts before the request fails. */
  attempts: number;
  /** Delay before the next attempt. */
  backoff: BackoffOptions;
  /**
   * Timeout for one image on the first attempt. The CRI reports no progress, so a registry that does not respond looks the
   * same as a slow one. The timeout doubles with each attempt, up to `longestPullMs`, so that a large image eventually
   * arrives over a slow link; the runtime usually keeps the layers of earlier attempts.
   */
  pullMs: number;
  longestPullMs: number;
  disk: DiskMargin;
  /** Between attempts to report a result to an unreachable API server. */
  reportBackoff: BackoffOptions;
}

export const DEFAULT_LIMITS: PullLimits = {
  attempts: 6,
  backoff: { baseMs: 5_000, maxMs: 80_000 },
  pullMs: 300_000,
  longestPullMs: 1_200_000,
  // The kubelet evicts pods below 5 to 15 % (imagefs.available), depending on its configuration. 512 MiB fit one more image.
  disk: { bytes: 512 * 1024 * 1024, share: 0.05 },
  reportBackoff: { baseMs: 1_000, maxMs: 30_000 },
};

export type PullResult = { kind: 'ready' } | { kind: 'failed'; cause: string };

/** Why an attempt failed; `final` when another attempt would fail the same way. */
interface AttemptFailure {
  cause: string;
  final: boolean;
}

/** The runtime's error on one line, without query strings, which may contain signatures. */
const causeOf = (error: unknown): string =>
  errorText(error)
    .replaceAll(/\?[^\s"')]+/g, '?...')
    .replaceAll(/\s+/g, ' ')
    .trim();

const isFinal = (error: unknown): boolean =>
  error instanceof CriError && (error.code === 'InvalidArgument' || error.code === 'Unimplemented');

export interface PullerOptions {
  cri: CriClient;
  env: Env;
  limits: PullLimits;
  /** Read again for each attempt: a secret may have been corrected meanwhile. */
  logins: (signal: AbortSignal) => Promise<PullLogins>;
  /** Called after each failed attempt that is retried. */
  onRetry: (cause: string) => void;
}

/** Whether the node has every image of `spec`; with policy Always, the runtime decides at start. */
export const hasAllImages = async (cri: CriClient, spec: PodSpec, signal: AbortSignal): Promise<boolean> => {
  for (const { image } of imagesOf(spec)) if (!(await cri.hasImage(image, signal))) return false;
  return true;
};

/** Pulls the missing images of a template. Rejects only with the signal's reason. */
export const pullImages = async (options: PullerOptions, spec: PodSpec, signal: AbortSignal): Promise<PullResult> => {
  const { cri, env, limits, logins } = options;

  const pull = async (image: string, attempt: number): Promise<AttemptFailure | undefined> => {
    const { keyring, problems } = await logins(signal);
    const known = keyring.lookUp(repositoryOf(image));
    const allowedMs = Math.min(limits.longestPullMs, limits.pullMs * 2 ** (attempt - 1));
    const endsAt = env.clock.now() + allowedMs;
    let last: unknown;
    for (const login of known.length > 0 ? known : [undefined]) {
      const leftMs = endsAt - env.clock.now();
      if (leftMs <= 0) break;
      try {
        await cri.pull(image, login, leftMs, signal);
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        last = error;
      }
    }
    const cause =
      last instanceof CriError && last.code === 'DeadlineExceeded'
        ? `${image} was not pulled within ${allowedMs / 1000} s: the registry is not responding, or the link is too slow`
        : `${image}: ${causeOf(last)}`;
    return { cause: [cause, ...problems].join('; '), final: isFinal(last) };
  };

  const ensureImage = async ({ image, policy }: WantedImage, attempt: number): Promise<AttemptFailure | undefined> => {
    const isPresent = await cri.hasImage(image, signal);
    if (isPresent && policy !== 'Always') return undefined;
    if (policy === 'Never')
      return { cause: `${image} is not on the node, and its imagePullPolicy is Never`, final: true };
    if (!isPresent) {
      const folder = await cri.imageFolder(signal);
      const cause = folder === undefined ? undefined : await whyNoRoom(folder, limits.disk);
      if (cause !== undefined) return { cause, final: true };
    }
    const started = env.clock.now();
    const failed = await pull(image, attempt);
    if (!failed) env.log.info('pulled an image', { image, ms: Math.round(env.clock.now() - started) });
    return failed;
  };

  const present = new Set<string>();
  const attemptAll = async (attempt: number): Promise<AttemptFailure | undefined> => {
    for (const wanted of imagesOf(spec)) {
      if (present.has(wanted.image)) continue;
      try {
        const failed = await ensureImage(wanted, attempt);
        if (failed) return failed;
        present.add(wanted.image);
      } catch (error) {
        signal.throwIfAborted();
        return { cause: causeOf(error), final: isFinal(error) };
      }
    }
    return undefined;
  };

  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const failed = await attemptAll(attempt);
    if (!failed) return { kind: 'ready' };
    if (failed.final || attempt >= limits.attempts) return { kind: 'failed', cause: failed.cause };
    options.onRetry(failed.cause);
    await sleep(env.clock, backoffMs(attempt, limits.backoff, env.random), signal);
  }
};
