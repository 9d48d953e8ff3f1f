import { Socket } from 'node:net';
import type { buildConnector, Client } from 'undici';

/** Connects through an HTTP proxy by CONNECT. undici's ProxyAgent does so too, but keeps its sockets from the watchdog. */
export const connectThrough = (
  proxy: Client,
  proxyUrl: URL,
  secure: buildConnector.connector,
): buildConnector.connector => {
  const login: Record<string, string> = {};
  if (proxyUrl.username) {
    const pair = `${decodeURIComponent(proxyUrl.username)}:${decodeURIComponent(proxyUrl.password)}`;
    login['proxy-authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return (target, callback) => {
    const port = target.port || (target.protocol === 'https:' ? '443' : '80');
    const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
    const path = `${host}:${port}`;
    proxy.connect({ path, headers: { ...login, host: path } }, (cause, answer) => {
      // Always a plain Error: undici would retry the connect for ever on its own socket error codes.
      if (cause) {
        callback(new Error(`no tunnel through the proxy ${proxyUrl.host}`, { cause }), null);
        return;
      }
      const { statusCode, socket } = answer;
      if (statusCode !== 200 || !(socket instanceof Socket)) {
        socket.on('error', () => undefined).destroy();
        callback(new Error(`the proxy ${proxyUrl.host} refused the tunnel with HTTP ${statusCode}`), null);
      } else if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
      else callback(null, socket);
    });
  };
};
