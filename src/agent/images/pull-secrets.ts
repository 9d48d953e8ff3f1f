import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, secrets, serviceAccounts } from '../../kube/index.ts';
import { createKeyring, entriesOf, type Keyring } from './keyring.ts';

const READ_MS = 10_000;

export interface PullLogins {
  keyring: Keyring;
  /** Why a secret was of no use; told only when a pull fails, as most images need none of them. */
  problems: readonly string[];
}

const whyNot = (error: unknown): string => {
  if (isKubeError(error, 'NotFound')) return 'does not exist';
  if (isKubeError(error, 'Forbidden', 'Unauthorized')) return 'may not be read by the agent';
  return 'could not be read: the API server did not answer';
};

/** The logins of a pod's pull secrets. A secret that cannot be read is no error: the kubelet too goes on without. */
export const readPullLogins = async (
  client: KubeClient,
  namespace: string,
  spec: PodSpec,
  signal: AbortSignal,
): Promise<PullLogins> => {
  const problems: string[] = [];
  const options = { signal, timeoutMs: READ_MS };
  const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${what} ${whyNot(error)}`);
      return undefined;
    }
  };
  const named = async (): Promise<readonly string[]> => {
    const namesOf = (references: PodSpec['imagePullSecrets'] = []): string[] =>
      references.map(({ name }) => name ?? '').filter((name) => name !== '');
    // Kubernetes gives a pod its service account's secrets only when it names none itself.
    if (spec.imagePullSecrets?.length) return namesOf(spec.imagePullSecrets);
    const name = spec.serviceAccountName || 'default';
    const account = await attempt(`service account ${namespace}/${name}`, () =>
      client.get(serviceAccounts, { namespace, name }, options),
    );
    return namesOf(account?.imagePullSecrets);
  };

  const entries: ReturnType<typeof entriesOf>['entries'][number][] = [];
  for (const name of new Set(await named())) {
    const what = `pull secret ${namespace}/${name}`;
    const secret = await attempt(what, () => client.get(secrets, { namespace, name }, options));
    if (!secret) continue;
    const read = entriesOf(secret);
    entries.push(...read.entries);
    if (read.problem) problems.push(`${what} ${read.problem}`);
  }
  return { keyring: createKeyring(entries), problems };
};
