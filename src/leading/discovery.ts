import { isKubeError, type KubeClient } from '../kube/index.ts';
import { type Env, sleep } from '../runtime/index.ts';
import type { RequiredApi } from './types.ts';

// Soon after a missing CRD is installed, without loading the API server.
const RETRY_MS = 2_000;

export const nameOf = ({ group, version, plural }: RequiredApi): string => `${plural}.${group}/${version}`;

/** `unknown`: the API server did not answer. `what` says what is wrong and what to do. */
export type Discovery =
  | { kind: 'served' }
  | { kind: 'absent'; what: string }
  | { kind: 'unknown'; what: string; error: unknown };

/** Asks whether an API is served. Every authenticated user may read discovery documents. */
export const discover = async (
  client: Pick<KubeClient, 'raw' | 'server'>,
  requirement: RequiredApi,
  signal: AbortSignal,
): Promise<Discovery> => {
  const { group, version, plural, remedy } = requirement;
  const absent: Discovery = { kind: 'absent', what: `the API server does not serve ${nameOf(requirement)}: ${remedy}` };
  try {
    const found = JSON.parse(await client.raw(`/apis/${group}/${version}`, { signal })) as {
      resources?: readonly { name?: unknown }[];
    };
    return found.resources?.some(({ name }) => name === plural) ? { kind: 'served' } : absent;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return absent;
    const what = isKubeError(error, 'Unauthorized', 'Forbidden')
      ? `${client.server} refused the credentials: check the kubeconfig or service account`
      : `cannot reach ${client.server}: check that it is running and reachable from here`;
    return { kind: 'unknown', what, error };
  }
};

/**
 * Resolves once the API server serves all required APIs, or when the signal aborts. Checks every two seconds; until then
 * `report` receives what is missing (undefined at the end), which is logged when it changes.
 */
export const waitForApis = async (
  { clock, log }: Pick<Env, 'clock' | 'log'>,
  client: Pick<KubeClient, 'raw' | 'server'>,
  requirements: readonly RequiredApi[],
  report: (missing: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> => {
  let logged: string | undefined;
  for (const requirement of requirements) {
    for (;;) {
      const found = await discover(client, requirement, signal);
      if (signal.aborted) return;
      if (found.kind === 'served') break;
      const { what } = found;
      report(what);
      if (what !== logged) log.error(what, found.kind === 'unknown' ? { error: found.error } : {});
      logged = what;
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    }
  }
  report(undefined);
  if (logged !== undefined) log.info('the API server serves all required APIs');
};
