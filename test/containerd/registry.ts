import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Blob, OciImage } from './oci-image.ts';

/** A registry that serves images over HTTP, slowly where it is told to. */
export const startRegistry = async (listenOn = '127.0.0.1') => {
  const blobs = new Map<string, Blob>();
  const registry = {
    /** Such as `127.0.0.1:40123`. */
    host: '',
    bytesPerSecond: (_path: string): number | undefined => undefined,
    add(name: string, tag: string, { manifest, config, layers }: OciImage): void {
      blobs.set(`/v2/${name}/manifests/${tag}`, manifest);
      blobs.set(`/v2/${name}/manifests/${manifest.digest}`, manifest);
      for (const blob of [config, ...layers]) blobs.set(`/v2/${name}/blobs/${blob.digest}`, blob);
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  const sendSlowly = async (response: ServerResponse, bytes: Buffer, bytesPerSecond: number): Promise<void> => {
    const step = Math.max(1, Math.floor(bytesPerSecond / 20));
    for (let at = 0; at < bytes.length && !response.destroyed; at += step) {
      response.write(bytes.subarray(at, at + step));
      await pause(50);
    }
    response.end();
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { method = '', url = '' } = request;
    // The query names the registry that a mirror stands for.
    const [path = ''] = url.split('?');
    if (path === '/v2/') return void response.writeHead(200).end();
    const blob = blobs.get(path);
    if (!blob) return void response.writeHead(404).end();
    const { bytes, mediaType, digest } = blob;
    response.writeHead(200, {
      'content-type': mediaType,
      'content-length': bytes.length,
      'docker-content-digest': digest,
    });
    const rate = registry.bytesPerSecond(path);
    if (method === 'HEAD') response.end();
    else if (rate !== undefined) void sendSlowly(response, bytes, rate);
    else response.end(bytes);
  };

  const server = createServer(answer).listen(0, listenOn);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the registry has no port');
  registry.host = `${listenOn}:${address.port}`;
  return registry;
};
export type Registry = Awaited<ReturnType<typeof startRegistry>>;
