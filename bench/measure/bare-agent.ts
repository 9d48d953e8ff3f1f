// What Node itself takes to do what an idle agent does: it serves HTTP, and holds one HTTP/2 connection over TLS with a watch.
// The benchmark runs it as JavaScript, with the agent's flags: `node bare-agent.mjs KUBECONFIG NODE`.

// As the bundle loads them: to import one, Node would read all of its exports.
const { readFileSync } = process.getBuiltinModule('node:fs');
const { createServer } = process.getBuiltinModule('node:http');
const { connect } = process.getBuiltinModule('node:http2');

const [, , kubeconfig = '', node = ''] = process.argv;
const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { token: string } }];
};
const [{ cluster }] = clusters;
const [{ user }] = users;

const session = connect(cluster.server, { ca: Buffer.from(cluster['certificate-authority-data'], 'base64') });
const query = new URLSearchParams({ watch: 'true', fieldSelector: `spec.nodeName=${node}` }).toString();
session.request({ ':path': `/api/v1/pods?${query}`, authorization: `Bearer ${user.token}` }).resume();

const server = createServer((_, response) => response.end('{}'));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const line = { msg: 'serving the API', address: `127.0.0.1:${address.port}` };
  process.stderr.write(`${JSON.stringify(line)}\n`);
});

// As bin/agent.ts does.
setTimeout(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), 4_000).unref();
process.once('SIGTERM', () => process.exit());
