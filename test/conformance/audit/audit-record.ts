/** One call that a cluster answered, told by its API server. Reads and calls that changed nothing may be left out. */
export interface AuditRecord {
  /** When the server had read the request, and when it had answered: milliseconds since the epoch. */
  receivedAt: number;
  answeredAt: number;
  user: string;
  /** The node that the user's token claims: tells agents apart. The embedded cluster does not know it. */
  node?: string;
  /** Tells processes of one user apart by their tokens. The embedded cluster does not know it. */
  credential?: string;
  userAgent: string;
  verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'get' | 'list' | 'watch';
  group: string;
  /** Lower-case plural; with a subresource as in `pods/status`. */
  resource: string;
  namespace: string;
  name: string;
  /** Of a list or watch; empty without one. */
  labelSelector?: string;
  /** HTTP status. */
  code: number;
  /** What was sent, where it was recorded. */
  request: unknown;
  /** The object as the server left it, where it was recorded. */
  response: unknown;
}
