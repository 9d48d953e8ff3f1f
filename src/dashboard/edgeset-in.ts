import { quoted } from '../text/index.ts';
import type { Connection } from '../view/index.ts';

/** How a user calls the command line about what the page shows. `context`: where that is needed to name the cluster. */
export const edgesetIn = (namespace: string, context?: string): Connection['edgeset'] => {
  const cluster = context === undefined ? '' : ` --context ${quoted(context)}`;
  // Whatever names no DaemonSet is in no namespace.
  return (words) => `kubectl edgeset ${words}${words.includes('/') ? ` -n ${namespace}` : ''}${cluster}`;
};

/** The connection, for what is about objects of this namespace. */
export const inNamespace = (
  connection: Omit<Connection, 'edgeset' | 'namespace'>,
  namespace: string,
  context?: string,
): Connection => ({ ...connection, namespace, edgeset: edgesetIn(namespace, context) });
