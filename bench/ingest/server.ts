// An API server of pods in its own process: lists, streamed lists, and a watch that sends its events as fast as the
// reader takes them. Prints its address.  bench/ingest/server.ts PODS EVENTS

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { realisticPod } from './pod.ts';

const [pods = 0, events = 0] = process.argv.slice(2).map(Number);
const FIRST_VERSION = 1_000;
const listVersion = FIRST_VERSION + pods;

const initial = Array.from({ length: pods }, (_, index) =>
  JSON.stringify(realisticPod(index, FIRST_VERSION + index, true)),
);
const changes = Array.from({ length: events }, (_, index) => {
  const object = realisticPod(index % pods, listVersion + 1 + index, index % 2 === 0);
  return Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
});
const metadata = JSON.stringify({ resourceVersion: String(listVersion) });
const bookmark = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${listVersion}","annotations":{"k8s.io/initial-events-end":"true"}}}}\n`;

const send = async (response: ServerResponse, part: string | Buffer): Promise<void> => {
  if (!response.write(part)) await once(response, 'drain');
};

const list = (response: ServerResponse, query: URLSearchParams): void => {
  const limit = Number(query.get('limit') ?? 0) || pods;
  const from = Number(query.get('continue') ?? 0);
  const more = from + limit < pods ? { continue: String(from + limit) } : {};
  const meta = JSON.stringify({ ...(JSON.parse(metadata) as object), ...more });
  response.end(
    `{"kind":"PodList","apiVersion":"v1","metadata":${meta},"items":[${initial.slice(from, from + limit).join(',')}]}`,
  );
};

const watch = async (response: ServerResponse, query: URLSearchParams): Promise<void> => {
  response.flushHeaders();
  if (query.get('sendInitialEvents') === 'true') {
    for (const pod of initial) await send(response, `{"type":"ADDED","object":${pod}}\n`);
    await send(response, bookmark);
  }
  for (const change of changes) await send(response, change);
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  response.setHeader('content-type', 'application/json');
  if (!pathname.endsWith('/pods')) response.writeHead(404).end('{}');
  else if (searchParams.get('watch') === 'true') void watch(response, searchParams).catch(() => undefined);
  else list(response, searchParams);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
