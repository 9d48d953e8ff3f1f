import type { Request, Response } from './exchange.ts';
import { parseRoute } from './router.ts';

/** One call about resources that was answered, as an audit log would tell of it; a watch once it has ended. */
export interface AuditEvent {
  /** Milliseconds of the cluster's time. */
  readonly receivedAt: number;
  readonly answeredAt: number;
  /** The newest resourceVersion when the call came: what it wrote has a higher one. */
  readonly versionBefore: number;
  readonly user: string;
  readonly userAgent: string;
  readonly method: string;
  readonly watch: boolean;
  readonly labelSelector: string;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly status: number;
  /** What was sent, when it was JSON. */
  readonly request: unknown;
  readonly response: unknown;
}

const parsed = (body: Buffer | undefined): unknown => {
  if (!body || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // YAML and protobuf are not worth their reading here.
    return undefined;
  }
};

export interface AuditRecorder {
  /** The call to be served in place of the one that came. */
  readonly call: Request;
  respond(status: number, response: unknown): void;
}

/** Listens to one call. */
export const auditCall = (
  call: Request,
  { now, version, audit }: { now: () => number; version: number; audit: (call: AuditEvent) => void },
): AuditRecorder => {
  const receivedAt = now();
  let body: Buffer | undefined;
  return {
    call: {
      ...call,
      async body() {
        body = await call.body();
        return body;
      },
    },
    respond(status, response) {
      const route = parseRoute(call.path);
      if (!route) return;
      const { group, plural, subresource, namespace, name } = route;
      audit({
        receivedAt,
        answeredAt: now(),
        versionBefore: version,
        user: call.user.name,
        userAgent: call.userAgent,
        method: call.method,
        watch: ['1', 'true'].includes(call.query.get('watch') ?? ''),
        labelSelector: call.query.get('labelSelector') ?? '',
        group,
        plural,
        subresource,
        namespace,
        name,
        status,
        request: parsed(body),
        response,
      });
    },
  };
};

export const responseBody = (answer: Response): unknown => (answer.is === 'json' ? answer.body : undefined);
