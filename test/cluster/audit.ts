import { open } from 'node:fs/promises';
import type { Audit, AuditRecord } from '../conformance/index.ts';

/** An audit event (audit.k8s.io/v1), as far as it is read. */
interface AuditEvent {
  stage: string;
  verb: AuditRecord['verb'];
  user: { username: string; extra?: Record<string, string[]> };
  impersonatedUser?: { username: string };
  userAgent?: string;
  requestURI?: string;
  objectRef?: { resource?: string; subresource?: string; apiGroup?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  requestObject?: unknown;
  responseObject?: unknown;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

// Date drops the microseconds, which order records that come close together.
const milliseconds = (stamp: string): number => {
  const micros = /\.(\d{3})(\d{1,3})/.exec(stamp)?.[2] ?? '';
  return Date.parse(stamp) + Number(micros.padEnd(3, '0')) / 1000;
};

export const recordOf = (event: AuditEvent): AuditRecord => {
  const ref = event.objectRef ?? {};
  const node = event.user.extra?.['authentication.kubernetes.io/node-name']?.[0];
  const credential = event.user.extra?.['authentication.kubernetes.io/credential-id']?.[0];
  const query = new URLSearchParams(event.requestURI?.split('?')[1]);
  const created = event.responseObject as { metadata?: { name?: string } } | undefined;
  return {
    receivedAt: milliseconds(event.requestReceivedTimestamp),
    answeredAt: milliseconds(event.stageTimestamp),
    user: event.impersonatedUser?.username ?? event.user.username,
    ...(node !== undefined && { node }),
    ...(credential !== undefined && { credential }),
    userAgent: event.userAgent ?? '',
    verb: event.verb,
    group: ref.apiGroup ?? '',
    resource: ref.subresource ? `${ref.resource}/${ref.subresource}` : (ref.resource ?? ''),
    namespace: ref.namespace ?? '',
    name: ref.name ?? created?.metadata?.name ?? '',
    labelSelector: query.get('labelSelector') ?? '',
    ...(query.has('dryRun') && { dryRun: true }),
    code: event.responseStatus?.code ?? 0,
    request: event.requestObject,
    response: event.responseObject,
  };
};

/** Read at a time: a string holds at most half a GiB, and the log of thousands of pods is larger. */
const PIECE_BYTES = 64 * 1024 * 1024;

/** Follows an API server's audit log: each `read` adds what was appended since the last one. */
export const followAudit = (file: string): Audit => {
  const records: AuditRecord[] = [];
  let offset = 0;
  let reading: Promise<void> = Promise.resolve();

  const readOn = async (): Promise<void> => {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      while (offset < size) {
        const fresh = Buffer.alloc(Math.min(PIECE_BYTES, size - offset));
        const { bytesRead } = await handle.read(fresh, 0, fresh.length, offset);
        // The last line may be incomplete: it is read once it is complete.
        const whole = fresh.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
        if (whole === 0) return;
        offset += whole;
        for (const line of fresh.subarray(0, whole).toString('utf8').split('\n')) {
          if (line === '') continue;
          const event = JSON.parse(line) as AuditEvent;
          if (event.stage === 'ResponseComplete' || event.stage === 'Panic') records.push(recordOf(event));
        }
      }
    } finally {
      await handle.close();
    }
  };
  return {
    async read() {
      reading = reading.then(readOn, readOn);
      await reading;
      return records;
    },
  };
};
