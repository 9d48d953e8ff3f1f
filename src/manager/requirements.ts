import { isKubeError, type KubeClient } from '../kube/index.ts';
import { type Env, sleep } from '../runtime/index.ts';
import type { Requirement } from './controller.ts';

// Soon enough that whoever applies the missing piece sees the manager go on, seldom enough for the API server.
const RETRY_MS = 2_000;

/** Undefined when it is served, else what is wrong. Discovery needs no rights beyond those of every authenticated user. */
const missing = async (
  client: Pick<KubeClient, 'raw' | 'server'>,
  { group, version, plural, cure }: Requirement,
  signal: AbortSignal,
): Promise<{ what: string; error?: unknown } | undefined> => {
  const what = `${plural}.${group}/${version}`;
  const absent = { what: `the API server does not serve ${what}: ${cure}` };
  try {
    const found = JSON.parse(await client.raw(`/apis/${group}/${version}`, { signal })) as {
      resources?: readonly { name?: unknown }[];
    };
    return found.resources?.some(({ name }) => name === plural) ? undefined : absent;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return absent;
    if (isKubeError(error, 'Unauthorized', 'Forbidden'))
      return { what: `${client.server} refuses us: check the credentials of the kubeconfig or service account`, error };
    return { what: `no answer from ${client.server}: is it up, and reachable from here?`, error };
  }
};

/**
 * Resolves once the API server serves all that is required, or when the signal aborts. Until then `report` hears what is
 * missing (undefined at the end), the log tells the cure whenever that changes, and the server is asked every two
 * seconds.
 */
export const awaitRequirements = async (
  { clock, log }: Pick<Env, 'clock' | 'log'>,
  client: Pick<KubeClient, 'raw' | 'server'>,
  requirements: readonly Requirement[],
  report: (missing: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> => {
  let said: string | undefined;
  for (const requirement of requirements) {
    for (;;) {
      const lack = await missing(client, requirement, signal);
      if (signal.aborted) return;
      if (lack === undefined) break;
      const { what, ...error } = lack;
      report(what);
      if (what !== said) log.error(what, error);
      said = what;
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    }
  }
  report(undefined);
  if (said !== undefined) log.info('the API server serves all that is needed');
};
