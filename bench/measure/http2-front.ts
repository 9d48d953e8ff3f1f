import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { Agent, request } from 'node:https';
import { createCertificateAuthority } from '../../src/runtime/index.ts';

interface Kubeconfig {
  clusters: [{ name: string; cluster: { server: string; 'certificate-authority-data': string } }];
}

export interface Http2Front {
  /** That of the API server behind it, with the address and the authority of this one. */
  kubeconfig: string;
  /** Requests whose responses are not complete: watches, on a device at rest. */
  open(): number;
  close(): void;
}

/** Headers that HTTP/2 does not have. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/**
 * Serves an API server over HTTP/2, as real ones do. The embedded one speaks HTTP/1.1, for which the agent's client would need a
 * connection for each call, and compile its parser.
 */
export const startHttp2Front = async (kubeconfig: string): Promise<Http2Front> => {
  const config = JSON.parse(kubeconfig) as Kubeconfig;
  const [{ name, cluster }] = config.clusters;
  const { hostname, port } = new URL(cluster.server);
  const agent = new Agent({ keepAlive: true, ca: Buffer.from(cluster['certificate-authority-data'], 'base64') });
  const { cert, key } = createCertificateAuthority('edgeset benchmark', { now: Date.now(), random: Math.random });

  let open = 0;
  const forward = (incoming: Http2ServerRequest, outgoing: Http2ServerResponse): void => {
    open += 1;
    const headers = Object.entries(incoming.headers).filter(([header]) => !header.startsWith(':'));
    const options = { hostname, port, path: incoming.url, method: incoming.method, agent };
    const call = request({ ...options, headers: Object.fromEntries(headers) }, (response) => {
      const kept = Object.entries(response.headers).filter(([header]) => !CONNECTION_HEADERS.has(header));
      outgoing.writeHead(response.statusCode ?? 502, Object.fromEntries(kept));
      response.pipe(outgoing);
    });
    call.on('error', () => outgoing.stream.destroy());
    outgoing.on('close', () => {
      open -= 1;
      call.destroy();
    });
    incoming.pipe(call);
  };
  const server = createSecureServer({ cert, key }, forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const own = {
    server: `https://127.0.0.1:${address.port}`,
    'certificate-authority-data': Buffer.from(cert).toString('base64'),
  };
  return {
    kubeconfig: JSON.stringify({ ...config, clusters: [{ name, cluster: { ...cluster, ...own } }] }),
    open: () => open,
    close() {
      server.close();
      agent.destroy();
    },
  };
};
