// What Node itself needs for the work of a manager: parses every event of the watches that it has, and sends one request for each
// deleted pod. It decides nothing, keeps nothing and writes nothing.
//   bench/real/bare-client.ts KUBECONFIG NAMESPACE SELECTOR; prints a line when the watches are open

import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { parse } from 'yaml';

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { token: string } }];
}

interface Event {
  type: string;
  object: { kind: string; metadata: { name: string; uid?: string; deletionTimestamp?: string } };
}

const [kubeconfig = '', namespace = '', selector = ''] = process.argv.slice(2);
const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
const { token } = users[0].user;
const session = connect(server, { ca: Buffer.from(ca, 'base64') });

const request = (path: string) => {
  const stream = session.request({ ':path': path, authorization: `Bearer ${token}`, accept: 'application/json' });
  stream.setEncoding('utf8');
  return stream;
};

/** Calls `onLine` for each line of the watch; resolves with the response's head. */
const watch = (path: string, onLine: (line: string) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const stream = request(`${path}watch=true&allowWatchBookmarks=true`);
    let rest = '';
    stream.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    });
    stream.on('response', ({ ':status': status }) =>
      status === 200 ? resolve() : reject(new Error(`${path} answered ${status}`)),
    );
    stream.on('error', reject);
  });

const deleted = new Set<string>();
const onPod = (line: string): void => {
  const { type, object } = JSON.parse(line) as Event;
  const { name, uid = '', deletionTimestamp } = object.metadata;
  if (type === 'DELETED') deleted.delete(uid);
  else if (deletionTimestamp !== undefined && !deleted.has(uid)) {
    deleted.add(uid);
    const stream = request(`/api/v1/namespaces/${namespace}/pods/${name}`);
    let text = '';
    stream.on('data', (chunk: string) => (text += chunk));
    stream.on('end', () => void JSON.parse(text));
  }
};
const onOther = (line: string): void => void JSON.parse(line);

await Promise.all([
  watch(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}&`, onPod),
  watch('/api/v1/nodes?', onOther),
  watch(`/apis/apps/v1/namespaces/${namespace}/daemonsets?`, onOther),
  watch(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions?`, onOther),
  watch(`/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts?`, onOther),
]);
process.stdout.write('watching\n');
