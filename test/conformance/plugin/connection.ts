import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { parse, stringify } from 'yaml';
import { type Case, section } from '../kit/index.ts';
import { edgeset } from './run.ts';

interface Kubeconfig {
  clusters: { name: string; cluster: { server: string; 'certificate-authority-data'?: string } }[];
  users: { name: string; user: { token?: string } }[];
  contexts: { name: string; context: { cluster: string; user: string; namespace?: string } }[];
  'current-context': string;
}

/** A kubeconfig whose current context leads nowhere, and that has what is right under other names. */
const writeMisleading = async (c: Case, file: string): Promise<{ server: string; ca: string; token: string }> => {
  const given = parse(await readFile(c.cluster.kubeconfig, 'utf8')) as Kubeconfig;
  const { server = '', 'certificate-authority-data': ca = '' } = given.clusters[0]?.cluster ?? {};
  const { token = '' } = given.users[0]?.user ?? {};
  const wrong = { server: 'https://127.0.0.1:1' };
  const config: Kubeconfig = {
    clusters: [
      { name: 'right', cluster: { server, 'certificate-authority-data': ca } },
      { name: 'wrong', cluster: wrong },
      { name: 'elsewhere', cluster: { ...wrong, 'certificate-authority-data': ca } },
    ],
    users: [
      { name: 'right', user: { token } },
      { name: 'wrong', user: { token: 'nobody' } },
    ],
    contexts: [
      { name: 'wrong', context: { cluster: 'wrong', user: 'wrong' } },
      { name: 'right', context: { cluster: 'right', user: 'right', namespace: c.namespace } },
      { name: 'elsewhere', context: { cluster: 'elsewhere', user: 'right' } },
      { name: 'empty', context: { cluster: 'right', user: 'right', namespace: `${c.namespace}-none` } },
    ],
    'current-context': 'wrong',
  };
  await writeFile(file, stringify({ apiVersion: 'v1', kind: 'Config', ...config }), { mode: 0o600 });
  return { server, ca: Buffer.from(ca, 'base64').toString(), token };
};

/** A name in the certificate of a server. */
const nameOf = (server: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      const [, name = ''] = /DNS:([^,]+)/.exec(socket.getPeerCertificate().subjectaltname ?? '') ?? [];
      socket.destroy();
      resolve(name);
    });
    socket.on('error', reject);
  });

export const connecting = section('Connection', (rule) => {
  rule(
    'each flag replaces what the kubeconfig says of the cluster and of the user',
    async (c) => {
      const folder = await mkdtemp(join(tmpdir(), 'edgeset-connection-'));
      try {
        await c.rolledOut();
        const kubeconfig = join(folder, 'kubeconfig');
        const { server, ca, token } = await writeMisleading(c, kubeconfig);
        const authority = join(folder, 'ca.crt');
        await writeFile(authority, ca);
        const status = (...flags: string[]) => c.cluster.plugin.run(['status', `--kubeconfig=${kubeconfig}`, ...flags]);
        const works = async (...flags: string[]): Promise<void> => {
          const { code, stdout, stderr } = await status(...flags);
          assert.equal(code, 0, `${flags.join(' ')}: ${stderr}`);
          assert.match(stdout, /^app +Complete /m);
        };
        const fails = async (says: RegExp, ...flags: string[]): Promise<void> => {
          const { code, stderr } = await status(...flags);
          assert.equal(code, 1, flags.join(' '));
          assert.match(stderr, says, flags.join(' '));
        };
        const where = `--namespace=${c.namespace}`;
        await fails(/cannot reach the API server https:\/\/127\.0\.0\.1:1/, where);
        // The context has the namespace, too.
        await works('--context=right');
        await works('--cluster=right', '--user=right', where);
        await fails(/rejected the credentials/, '--cluster=right', '--user=wrong', where);
        await works('--cluster=right', `--token=${token}`, where);
        await works('--context=elsewhere', `--server=${server}`, where);
        await works('--user=right', `--server=${server}`, `--certificate-authority=${authority}`, where);
        await works('--user=right', `--server=${server}`, '--insecure-skip-tls-verify', where);
        await works('--context=elsewhere', `--server=${server}`, `--tls-server-name=${await nameOf(server)}`, where);
        await fails(
          /certificate|altnames|elsewhere/i,
          '--context=elsewhere',
          `--server=${server}`,
          '--tls-server-name=x.example',
          where,
        );
        await works('--context=right', '--request-timeout=20s');
        const link = await c.cluster.link();
        link.stall();
        const late = ['--context=elsewhere', `--server=https://127.0.0.1:${link.port}`, '--request-timeout=1s', where];
        const began = Date.now();
        await fails(/is not responding/, ...late);
        assert.ok(Date.now() - began < 20_000, 'the limit is that of the flag');
        await link.close();
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    { nodes: 1 },
  );

  rule(
    'several contexts are shown side by side, and one that does not answer is a row that says so',
    async (c) => {
      const folder = await mkdtemp(join(tmpdir(), 'edgeset-contexts-'));
      try {
        await c.rolledOut();
        const kubeconfig = join(folder, 'kubeconfig');
        await writeMisleading(c, kubeconfig);
        const status = (...flags: string[]) => c.cluster.plugin.run(['status', `--kubeconfig=${kubeconfig}`, ...flags]);
        const { code, stdout, stderr } = await status('--contexts=wrong,right,empty', '--contexts', 'nowhere');
        assert.equal(code, 1);
        const [header = '', ...rows] = stdout.trimEnd().split('\n');
        assert.match(header, /^CONTEXT +NAME +STATUS /);
        assert.equal(rows.length, 4, stdout);
        assert.match(rows[0] ?? '', /^wrong +- +cannot reach the API server https:\/\/127\.0\.0\.1:1 /);
        assert.match(rows[1] ?? '', /^right +app +Complete /);
        assert.match(rows[2] ?? '', /^empty +- +there are no rollouts in namespace /);
        assert.match(rows[3] ?? '', /^nowhere +- +.*kubeconfig: contexts/);
        assert.match(stderr, /: 3 of 4 contexts failed:\n {2}wrong: .*\n {2}empty: .*\n {2}nowhere: .*does not exist/);
        const named = await status('--contexts=right', 'ds/app', '-o', 'name');
        assert.deepEqual([named.code, named.stdout], [0, 'right daemonrollout.edgeset.io/app\n']);
        const watched = await status('--contexts=right,wrong', '-w');
        assert.deepEqual([watched.code, watched.stdout], [2, '']);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    { nodes: 1 },
  );

  rule(
    'a client certificate and its key replace the token of the user',
    async (c) => {
      const folder = await mkdtemp(join(tmpdir(), 'edgeset-certificate-'));
      try {
        await c.rolledOut();
        const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
        await writeFile(cert, 'no certificate');
        await writeFile(key, 'no key', { mode: 0o600 });
        const { code, stderr } = await edgeset(c, 'status', `--client-certificate=${cert}`, `--client-key=${key}`);
        // That they are used is seen by what is wrong with them: the test's API servers issue none.
        assert.equal(code, 1);
        assert.match(stderr, /client-certificate|client-key|certificate|key|PEM/i);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    { nodes: 1 },
  );
});
