import { isKubeError, type KubeClient, secrets } from '../kube/index.ts';
import type { PrometheusCheck } from '../rollout/index.ts';

/** A Secret can't be used. The message names it and the cure. */
export class SecretError extends Error {
  readonly code = 'UnusableSecret';
}

export interface SecretValues {
  authorization: string | undefined;
  /** PEM. */
  ca: string | undefined;
}

type Data = Readonly<Record<string, string>>;

// What a header can hold.
const VISIBLE = /^[\x21-\x7e]+$/;

const readSecret = async (client: KubeClient, namespace: string, name: string, signal: AbortSignal): Promise<Data> => {
  try {
    const { data = {} } = await client.get(secrets, { namespace, name }, { signal });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    );
  } catch (cause) {
    if (isKubeError(cause, 'NotFound'))
      throw new SecretError(`Secret ${namespace}/${name} does not exist: create it`, { cause });
    if (isKubeError(cause, 'Forbidden'))
      throw new SecretError(
        `the manager may not read Secret ${namespace}/${name}: grant its service account get on this Secret by a Role`,
        { cause },
      );
    throw cause;
  }
};

const authorizationOf = (where: string, { token, username, password }: Data): string => {
  const bearer = token?.trim();
  if (bearer !== undefined && (username ?? password) !== undefined)
    throw new SecretError(`${where} has a token and also username or password: keep one of the two`);
  if (bearer !== undefined) {
    if (!VISIBLE.test(bearer))
      throw new SecretError(`${where} has a token that is not one line of printable characters`);
    return `Bearer ${bearer}`;
  }
  if (username === undefined || password === undefined)
    throw new SecretError(`${where} has neither token nor username and password: set them`);
  const pair = `${username.trim()}:${password.replace(/\r?\n$/, '')}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
};

/** Reads what a check needs of Secrets, at each evaluation anew: they may be renewed at any time. */
export const readSecrets = async (
  client: KubeClient,
  namespace: string,
  { credentials, tls }: Pick<PrometheusCheck, 'credentials' | 'tls'>,
  signal: AbortSignal,
): Promise<SecretValues> => {
  const read = (name: string): Promise<Data> => readSecret(client, namespace, name, signal);
  const result: SecretValues = { authorization: undefined, ca: undefined };
  if (credentials) {
    const { secretName } = credentials;
    result.authorization = authorizationOf(`Secret ${namespace}/${secretName}`, await read(secretName));
  }
  if (tls?.caSecretName !== undefined) {
    const { 'ca.crt': ca } = await read(tls.caSecretName);
    if (ca === undefined || !ca.includes('-----BEGIN CERTIFICATE-----'))
      throw new SecretError(`Secret ${namespace}/${tls.caSecretName} has no ca.crt in PEM format: set it`);
    result.ca = ca;
  }
  return result;
};
