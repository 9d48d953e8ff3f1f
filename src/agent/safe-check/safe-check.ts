import { type Env, OptionError } from '../../runtime/index.ts';
import type { SafeAnswer, SafeQuestion } from './answer.ts';
import { executableProblem, runExecutable } from './executable.ts';
import { getUrl, urlProblem } from './url.ts';

/** The device's own check: whether it may be disturbed now. */
export interface SafeCheck {
  readonly configured: boolean;
  /** The last answer; `safe` is null until the check was asked. */
  readonly last: { safe: boolean | null; message: string };
  /** Never rejects: any error means not safe. Without a check, the answer is always safe. */
  ask(signal: AbortSignal, about?: SafeQuestion): Promise<SafeAnswer>;
}

export interface SafeCheckOptions {
  /** Absolute path of an executable, or an http(s) URL. */
  check: string | undefined;
  env: Env;
  /** For one answer. Default 5,000. */
  timeoutMs?: number;
  /** The flag to name in errors. Default `--safe-check`. */
  flag?: string;
}

const DEFAULT_TIMEOUT_MS = 5000;
const URL_SCHEME = /^https?:\/\//i;

/** Throws an `OptionError` when the check can't work, or when other users could answer in its place. */
export const createSafeCheck = (options: SafeCheckOptions): SafeCheck => {
  const { check, env, timeoutMs = DEFAULT_TIMEOUT_MS, flag = '--safe-check' } = options;
  if (check === undefined) {
    const message = 'No safety check is configured on this device.';
    return { configured: false, last: { safe: null, message }, ask: () => Promise.resolve({ safe: true, message }) };
  }
  const isUrl = URL_SCHEME.test(check);
  const problem = isUrl ? urlProblem(check) : executableProblem(check);
  if (problem !== undefined) throw new OptionError(flag, `${check} ${problem}`);

  let last: SafeCheck['last'] = { safe: null, message: 'Not checked yet.' };
  const question = (signal: AbortSignal, about?: SafeQuestion): Promise<SafeAnswer> => {
    const { namespace = '', daemonSet = '', revision = '' } = about ?? {};
    const common = { env, timeoutMs, signal };
    if (isUrl) return getUrl(check, { ...common, query: about ? { namespace, daemonSet, revision } : {} });
    const variables = about
      ? { EDGESET_NAMESPACE: namespace, EDGESET_DAEMONSET: daemonSet, EDGESET_REVISION: revision }
      : {};
    return runExecutable(check, { ...common, variables });
  };

  return {
    configured: true,
    get last() {
      return last;
    },
    async ask(signal, about) {
      try {
        last = await question(signal, about);
      } catch (error) {
        env.log.error('safety check failed', { error });
        last = { safe: false, message: 'The check failed.' };
      }
      return { safe: last.safe === true, message: last.message };
    },
  };
};
