import type { Connection } from '../view/index.ts';

/** How a user calls the command line with these words, about this namespace, in the cluster of this context where there are several. */
export type Edgeset = (words: string, namespace?: string, context?: string) => string;

/** For those whose kubeconfig nobody knows here. */
export const kubectlEdgeset: Edgeset = (words, namespace) =>
  `kubectl edgeset ${words}${namespace === undefined ? '' : ` -n ${namespace}`}`;

/** The same about what the page shows. */
export const edgesetIn =
  (edgeset: Edgeset, namespace: string, context?: string): Connection['edgeset'] =>
  // Whatever names no DaemonSet is in no namespace.
  (words) =>
    edgeset(words, words.includes('/') ? namespace : undefined, context);

/** The connection, for what is about objects of this namespace. */
export const inNamespace = (
  { edgeset, ...connection }: Omit<Connection, 'edgeset' | 'namespace'> & { edgeset: Edgeset },
  namespace: string,
  context?: string,
): Connection => ({ ...connection, namespace, edgeset: edgesetIn(edgeset, namespace, context) });
