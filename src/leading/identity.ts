import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Namespace of the own pod. Undefined for a pod without a service account, and outside a cluster. */
export const podNamespace = (): Promise<string | undefined> =>
  readFile(NAMESPACE_FILE, 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  );

/** The host name and a random part: two processes on one machine must not mistake each other's lease for their own. */
export const newIdentity = (random: () => number): string =>
  `${hostname()}_${Math.floor(random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')}`;
