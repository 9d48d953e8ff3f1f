import type { Request, Response } from './exchange.ts';
import { parseRoute } from './route.ts';

/** An audit record of one resource request; of a watch once it has ended. */
export interface AuditEvent {
  /** Milliseconds, in cluster time. */
  readonly receivedAt: number;
  readonly answeredAt: number;
  /** The newest resourceVersion before the request; objects that it wrote have a higher one. */
  readonly versionBefore: number;
  readonly user: string;
  readonly userAgent: string;
  readonly method: string;
  readonly watch: boolean;
  readonly labelSelector: string;
  readonly dryRun: boolean;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly status: number;
  /** The request body, if it was JSON. */
  readonly request: unknown;
  readonly response: unknown;
}

const parsed = (body: Buffer | undefined): unknown => {
  if (!body || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // YAML and protobuf bodies are not recorded.
    return undefined;
  }
};

export interface AuditRecorder {
  /** The request to serve; it records its body when it is read. */
  readonly request: Request;
  respond(status: number, response: unknown): void;
}

export const recordRequest = (
  request: Request,
  { now, version, audit }: { now: () => number; version: number; audit: (event: AuditEvent) => void },
): AuditRecorder => {
  const receivedAt = now();
  let body: Buffer | undefined;
  return {
    request: {
      ...request,
      async body() {
        body = await request.body();
        return body;
      },
    },
    respond(status, response) {
      const route = parseRoute(request.path);
      if (!route) return;
      const { group, plural, subresource, namespace, name } = route;
      audit({
        receivedAt,
        answeredAt: now(),
        versionBefore: version,
        user: request.user.name,
        userAgent: request.userAgent,
        method: request.method,
        watch: ['1', 'true'].includes(request.query.get('watch') ?? ''),
        labelSelector: request.query.get('labelSelector') ?? '',
        dryRun: request.query.has('dryRun'),
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

export const responseBody = (response: Response): unknown => (response.is === 'json' ? response.body : undefined);
