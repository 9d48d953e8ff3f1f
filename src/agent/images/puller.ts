import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { backoffMs, type Env, sleep } from '../../runtime/index.ts';
import type { CriClient } from './cri/client.ts';
import { CriError } from './cri/errors.ts';
import { whyNoRoom } from './disk-space.ts';
import { imagesOf, type WantedImage } from './image-references.ts';
import type { PullLimits } from './limits.ts';
import type { PullLogins } from './pull-secrets.ts';
import { repositoryOf } from './reference.ts';

export type PullResult = { kind: 'ready' } | { kind: 'failed'; cause: string };

/** Why one attempt came to nothing; `final` where another one would end the same. */
interface AttemptFailure {
  cause: string;
  final: boolean;
}

/** The runtime's own words without what may be a signed address, on one line. */
const causeOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replaceAll(/\?[^\s"')]+/g, '?...')
    .replaceAll(/\s+/g, ' ')
    .trim();

const isFinal = (error: unknown): boolean =>
  error instanceof CriError && (error.code === 'InvalidArgument' || error.code === 'Unimplemented');

export interface PullerOptions {
  cri: CriClient;
  env: Env;
  limits: PullLimits;
  /** Read anew for each attempt: a secret may have been mended meanwhile. */
  logins: (signal: AbortSignal) => Promise<PullLogins>;
  /** Told of each attempt that failed and is followed by another. */
  onRetry: (cause: string) => void;
}

/** Whether the node has every image of `spec` that a pod could start with; with policy Always, the runtime decides. */
export const hasAllImages = async (cri: CriClient, spec: PodSpec, signal: AbortSignal): Promise<boolean> => {
  for (const { image } of imagesOf(spec)) if (!(await cri.hasImage(image, signal))) return false;
  return true;
};

/** Makes the images of a template present on the node. Rejects only with the signal's reason. */
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
        ? `${image} was not complete after ${allowedMs / 1000} s: the registry does not answer, or the link is too slow`
        : `${image}: ${causeOf(last)}`;
    return { cause: [cause, ...problems].join('; '), final: isFinal(last) };
  };

  const obtain = async ({ image, policy }: WantedImage, attempt: number): Promise<AttemptFailure | undefined> => {
    const present = await cri.hasImage(image, signal);
    if (present && policy !== 'Always') return undefined;
    if (policy === 'Never')
      return { cause: `${image} is not on the node, and its imagePullPolicy is Never`, final: true };
    if (!present) {
      const folder = await cri.imageFolder(signal);
      const cause = folder === undefined ? undefined : await whyNoRoom(folder, limits.disk);
      if (cause !== undefined) return { cause, final: true };
    }
    const started = env.clock.now();
    const setback = await pull(image, attempt);
    if (!setback) env.log.info('pulled an image', { image, ms: Math.round(env.clock.now() - started) });
    return setback;
  };

  const obtained = new Set<string>();
  const attemptAll = async (attempt: number): Promise<AttemptFailure | undefined> => {
    for (const wanted of imagesOf(spec)) {
      if (obtained.has(wanted.image)) continue;
      try {
        const setback = await obtain(wanted, attempt);
        if (setback) return setback;
        obtained.add(wanted.image);
      } catch (error) {
        signal.throwIfAborted();
        return { cause: causeOf(error), final: isFinal(error) };
      }
    }
    return undefined;
  };

  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const setback = await attemptAll(attempt);
    if (!setback) return { kind: 'ready' };
    if (setback.final || attempt >= limits.attempts) return { kind: 'failed', cause: setback.cause };
    options.onRetry(setback.cause);
    await sleep(env.clock, backoffMs(attempt, limits.backoff, env.random), signal);
  }
};
