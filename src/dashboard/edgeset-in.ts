import type { Connection } from '../view/index.ts';

/** How a user calls the command line about what the page shows. */
export const edgesetIn =
  (namespace: string): Connection['edgeset'] =>
  (words) =>
    // Whatever names no DaemonSet is in no namespace.
    `kubectl edgeset ${words}${words.includes('/') ? ` -n ${namespace}` : ''}`;

/** The connection, for what is about objects of this namespace. */
export const inNamespace = (connection: Omit<Connection, 'edgeset' | 'namespace'>, namespace: string): Connection => ({
  ...connection,
  namespace,
  edgeset: edgesetIn(namespace),
});
