import { isKubeError, type KubeClient } from '../kube/index.ts';
import { type Env, sleep } from '../runtime/index.ts';
import type { RequiredApi } from './types.ts';

// Soon enough that whoever applies the missing piece sees the manager go on, seldom enough for the API server.
const RETRY_MS = 2_000;

export const nameOf = ({ group, version, plural }: RequiredApi): string => `${plural}.${group}/${version}`;

/** `unknown`: the API server gave no answer. `what` is a sentence with the cure. */
export type Discovery =
  | { kind: 'served' }
  | { kind: 'absent'; what: string }
  | { kind: 'unknown'; what: string; error: unknown };

/** Is it served? Discovery needs no rights beyond those of every authenticated user. */
export const discover = async (
  client: Pick<KubeClient, 'raw' | 'server'>,
  requirement: RequiredApi,
  signal: AbortSignal,
): Promise<Discovery> => {
  const { group, version, plural, cure } = requirement;
  const absent: Discovery = { kind: 'absent', what: `the API server does not serve ${nameOf(requirement)}: ${cure}` };
  try {
    const found = JSON.parse(await client.raw(`/apis/${group}/${version}`, { signal })) as {
      resources?: readonly { name?: unknown }[];
    };
    return found.resources?.some(({ name }) => name === plural) ? { kind: 'served' } : absent;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return absent;
    const what = isKubeError(error, 'Unauthorized', 'Forbidden')
      ? `${client.server} refuses us: check the credentials of the kubeconfig or service account`
      : `no answer from ${client.server}: is it up, and reachable from here?`;
    return { kind: 'unknown', what, error };
  }
};

/**
 * Resolves once the API server serves all that is required, or when the signal aborts. Until then `report` hears what is
 * missing (undefined at the end), the log tells the cure whenever that changes, and the server is asked every two
 * seconds.
 */
export const waitForApis = async (
  { clock, log }: Pick<Env, 'clock' | 'log'>,
  client: Pick<KubeClient, 'raw' | 'server'>,
  requirements: readonly RequiredApi[],
  report: (missing: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> => {
  let said: string | undefined;
  for (const requirement of requirements) {
    for (;;) {
      const found = await discover(client, requirement, signal);
      if (signal.aborted) return;
      if (found.kind === 'served') break;
      const { what } = found;
      report(what);
      if (what !== said) log.error(what, found.kind === 'unknown' ? { error: found.error } : {});
      said = what;
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    }
  }
  report(undefined);
  if (said !== undefined) log.info('the API server serves all that is needed');
};
