/** One call to an API server, from its audit log. Reads and calls that changed nothing may be missing. */
export interface AuditRecord {
  /** When the server had read the request, and when it had responded: epoch ms. */
  receivedAt: number;
  answeredAt: number;
  user: string;
  /** The node in the user's token, which distinguishes agents. Not set by the embedded cluster. */
  node?: string;
  /** Identifies the token, which distinguishes processes of one user. Not set by the embedded cluster. */
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
  /** Nothing was to be stored. */
  dryRun?: true;
  /** HTTP status. */
  code: number;
  /** The request body, if it was recorded. */
  request: unknown;
  /** The resulting object, if it was recorded. */
  response: unknown;
}
