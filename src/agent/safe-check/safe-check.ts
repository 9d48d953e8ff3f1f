import { type Env, OptionError } from '../../runtime/index.ts';
import type { DaemonSetRef } from '../types.ts';
import { executableProblem, runExecutable } from './executable.ts';
import type { SafeAnswer, SafeCheck } from './types.ts';
import { getUrl, urlProblem } from './url.ts';

export interface SafeCheckOptions {
  /** An absolute path of an executable, or an http(s) URL. */
  check: string | undefined;
  env: Env;
  /** For the whole of one question. Default 5 s. */
  timeoutMs?: number;
  /** The flag to name in errors. Default `--safe-check`. */
  flag?: string;
}

const DEFAULT_TIMEOUT_MS = 5000;
const URL_SCHEME = /^https?:\/\//i;

/** Throws an `OptionError` when the check could never answer, or when others could answer in its place. */
export const createSafeCheck = (options: SafeCheckOptions): SafeCheck => {
  const { check, env, timeoutMs = DEFAULT_TIMEOUT_MS, flag = '--safe-check' } = options;
  if (check === undefined) {
    const message = 'This device has no check of its own.';
    return { configured: false, last: { safe: null, message }, ask: () => Promise.resolve({ safe: true, message }) };
  }
  const isUrl = URL_SCHEME.test(check);
  const problem = isUrl ? urlProblem(check) : executableProblem(check);
  if (problem !== undefined) throw new OptionError(flag, `${check} ${problem}`);

  let last: SafeCheck['last'] = { safe: null, message: 'Not asked yet.' };
  const question = (signal: AbortSignal, about?: DaemonSetRef & { revision: string }): Promise<SafeAnswer> => {
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
        env.log.error('the check of the device failed', { error });
        last = { safe: false, message: 'The check failed.' };
      }
      return { safe: last.safe === true, message: last.message };
    },
  };
};
