import { type CallOptions, isKubeError, type KubeClient, secrets } from '../kube/index.ts';
import type { PrometheusCheck } from '../words/index.ts';
import { type Problem, sayProblem } from './types.ts';

/** A Secret can't be used. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  readonly code = 'UnusableSecret';
  readonly found: Problem;

  constructor(secret: string, found: Problem, options?: ErrorOptions) {
    super(`${secret} ${sayProblem(found)}`, options);
    this.found = found;
  }
}

export interface SecretValues {
  authorization: string | undefined;
  /** PEM. */
  ca: string | undefined;
}

type Data = Readonly<Record<string, string>>;

// What a header can hold.
const VISIBLE = /^[\x21-\x7e]+$/;

/** As messages call it. */
export const secretName = (namespace: string, name: string): string => `Secret ${namespace}/${name}`;

const readSecret = async (client: KubeClient, namespace: string, name: string, call: CallOptions): Promise<Data> => {
  const secret = secretName(namespace, name);
  try {
    const { data = {} } = await client.get(secrets, { namespace, name }, call);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    );
  } catch (cause) {
    if (isKubeError(cause, 'NotFound'))
      throw new SecretError(secret, { problem: 'does not exist', remedy: 'create it' }, { cause });
    if (isKubeError(cause, 'Forbidden'))
      throw new SecretError(
        secret,
        { problem: 'may not be read by the manager', remedy: 'grant its service account get on this Secret by a Role' },
        { cause },
      );
    throw cause;
  }
};

const authorizationOf = (secret: string, { token, username, password }: Data): string => {
  const unusable = (problem: string, remedy: string): SecretError => new SecretError(secret, { problem, remedy });
  const bearer = token?.trim();
  if (bearer !== undefined && (username ?? password) !== undefined)
    throw unusable('has a token and also username or password', 'keep one of the two');
  if (bearer !== undefined) {
    if (!VISIBLE.test(bearer))
      throw unusable('has a token that is not one line of printable characters', 'set one that is');
    return `Bearer ${bearer}`;
  }
  if (username === undefined || password === undefined)
    throw unusable('has neither token nor username and password', 'set them');
  const pair = `${username.trim()}:${password.replace(/\r?\n$/, '')}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
};

/** Reads what a check needs of Secrets, at each evaluation again: they may be renewed at any time. */
export const readSecrets = async (
  client: KubeClient,
  namespace: string,
  { credentials, tls }: Pick<PrometheusCheck, 'credentials' | 'tls'>,
  call: CallOptions,
): Promise<SecretValues> => {
  const read = (name: string): Promise<Data> => readSecret(client, namespace, name, call);
  const result: SecretValues = { authorization: undefined, ca: undefined };
  if (credentials) {
    const { secretName: name } = credentials;
    result.authorization = authorizationOf(secretName(namespace, name), await read(name));
  }
  if (tls?.caSecretName !== undefined) {
    const { 'ca.crt': ca } = await read(tls.caSecretName);
    if (ca === undefined || !ca.includes('-----BEGIN CERTIFICATE-----'))
      throw new SecretError(secretName(namespace, tls.caSecretName), {
        problem: 'has no ca.crt in PEM format',
        remedy: 'set it',
      });
    result.ca = ca;
  }
  return result;
};
