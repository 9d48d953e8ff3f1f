import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as plainRequest } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Event } from 'kubernetes-types/events/v1.d.ts';
import { createTestAuthority } from '../../support/index.ts';
import { type Case, refusePods, section } from '../kit/index.ts';
import { announced, withOwner } from './owner.ts';

const TOKEN = 'a-token-of-at-least-16-characters';

/** The status and the body of an answer. */
const ask = (options: RequestOptions, tls = true): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const sent = (tls ? request : plainRequest)({ agent: false, ...options }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });

const eventsOf = async (c: Case, reason: string): Promise<Event[]> => {
  const { items } = await c.api.get<{ items: Event[] }>(`/apis/events.k8s.io/v1/namespaces/${c.namespace}/events`);
  return items.filter((event) => event.reportingController === 'edgeset.io/agent' && event.reason === reason);
};

/** The first event of a stream of the agent. */
const firstOfStream = async (url: string): Promise<string> => {
  const stopping = new AbortController();
  const { body, headers } = await fetch(url, { signal: stopping.signal });
  assert.equal(headers.get('content-type'), 'text/event-stream');
  let read = '';
  for await (const chunk of body ?? []) {
    read += Buffer.from(chunk).toString('utf8');
    if (read.includes('\n\n') && read.includes('data: ')) break;
  }
  stopping.abort();
  return read;
};

export const serving = section('What the agent serves', (rule) => {
  rule(
    'HTTPS to callers with a token or a certificate, under the names that it is told, and a Unix socket',
    async (c) => {
      const folder = await mkdtemp(join(tmpdir(), 'edgeset-serving-'));
      const authority = createTestAuthority();
      const [server, owner] = [authority.issue('till', ['till.example', 'localhost']), authority.issue('ada')];
      const stranger = createTestAuthority('another authority').issue('mallory');
      const write = async (name: string, content: string): Promise<string> => {
        await writeFile(join(folder, name), content, { mode: 0o600 });
        return join(folder, name);
      };
      const socketPath = join(folder, 'agent.sock');
      const args = [
        `--tls-cert-file=${await write('tls.crt', server.cert)}`,
        `--tls-private-key-file=${await write('tls.key', server.key)}`,
        `--client-ca-file=${await write('clients.crt', authority.cert)}`,
        `--token-file=${await write('tokens', `# of the shop\nshop:${TOKEN}\n`)}`,
        '--allowed-host=till.example',
        `--unix-socket=${socketPath}`,
        '--allow-user=12345',
        '--log-level=debug',
        '--log-format=json',
      ];
      try {
        await announced(c);
        await withOwner(c, { args }, async ({ agent }) => {
          const path = `/edgeset.io/v1/updates/${c.namespace}/app`;
          const at = { host: '127.0.0.1', port: agent.port, path, ca: authority.cert, servername: 'localhost' };
          const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
          const shown = await c.until('the update is served', async () => {
            const answer = await ask({ ...at, headers: bearer(TOKEN) });
            return answer.status === 200 && answer;
          });
          assert.equal((JSON.parse(shown.body) as { daemonSet: string }).daemonSet, 'app');
          const statusOf = async (more: RequestOptions): Promise<number> => (await ask({ ...at, ...more })).status;
          assert.equal(await statusOf({ cert: owner.cert, key: owner.key }), 200, 'a certificate');
          assert.equal(await statusOf({ headers: bearer('another-token-of-16-characters') }), 403, 'a wrong token');
          const foreign = statusOf({ cert: stranger.cert, key: stranger.key });
          assert.notEqual(await foreign.catch(() => 'refused'), 200, 'a certificate of another authority');
          // Root is not in --allow-user.
          assert.equal(await statusOf({}), 401, 'a local user');
          const named = (name: string) => statusOf({ headers: { ...bearer(TOKEN), host: `${name}:${agent.port}` } });
          assert.equal(await named('till.example'), 200);
          assert.equal(await named('elsewhere.example'), 421);
          const local = await ask(
            { socketPath, path: '/pods', headers: { ...bearer(TOKEN), host: 'localhost' } },
            false,
          );
          assert.equal(local.status, 200, local.body);
          assert.match(await agent.log(), /"level":"debug"/);
        });
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    { nodes: 1 },
  );

  rule(
    'nothing where the context is not in its kubeconfig, which it names',
    async (c) => {
      const [node = ''] = c.nodes;
      const start = (context: string) =>
        c.cluster.startAgent({ node, namespace: c.namespace, args: [`--context=${context}`] });
      await assert.rejects(start('nothing'), /ended with 1:[^]*contexts: .*nothing.* does not exist/);
      // That of the kubeconfigs of test/cluster/controlplane.ts.
      const agent = await start('edgeset');
      try {
        assert.equal((await fetch(`${agent.url}/pods`)).status, 200);
      } finally {
        await agent.stop();
      }
    },
    { nodes: 1, manager: 'none' },
  );

  rule(
    'every route, metrics that follow what is decided, and Events that say who decided what and what became of it',
    async (c) => {
      const folder = await mkdtemp(join(tmpdir(), 'edgeset-parked-'));
      const [check, parked] = [join(folder, 'is-parked'), join(folder, 'parked')];
      await writeFile(check, `#!/bin/sh\n[ -e ${parked} ] || { echo 'The van is moving.'; exit 1; }\n`, {
        mode: 0o755,
      });
      const args = [`--safe-check=${check}`, '--metrics-bind-address=127.0.0.1:0', '--log-format=json'];
      try {
        const pod = await announced(c);
        await withOwner(c, { args }, async (owner) => {
          const { url } = owner.agent;
          const metric = async (series: string): Promise<number> => {
            const line = (await owner.metrics())
              .split('\n')
              .find((each) => each.startsWith(`${series} `) || each.startsWith(`${series}{`));
            return Number(line?.slice(line.lastIndexOf(' ') + 1));
          };
          const json = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T;
          const { target } = await owner.untilShown('available');
          const { revision } = target;
          const { items } = await json<{ items: { daemonSet: string }[] }>('/edgeset.io/v1/updates');
          assert.deepEqual(
            items.map(({ daemonSet }) => daemonSet),
            ['app'],
          );
          const device = await json<{ node: string; connected: boolean; safety: { configured: boolean } | undefined }>(
            '/edgeset.io/v1/device',
          );
          assert.deepEqual([device.node, device.connected], [c.nodes[0], true]);
          assert.match(await firstOfStream(`${url}/edgeset.io/v1/events`), /event: state\ndata: \{"device":\{"node":/);
          assert.equal((await fetch(`${url}/edgeset.io/v1/nothing`)).status, 404);
          const approved = await owner.decide({ revision, decision: 'approve', when: { type: 'safe' } });
          assert.equal(approved.status, 202, approved.text);
          await c.until('it says why it waits', async () => /The van is moving/.test((await owner.update()).message));
          assert.equal((await owner.update()).state, 'queued');
          await c.until(
            'it counts as queued',
            async () => (await metric('edgeset_agent_updates{state="queued"}')) === 1,
          );
          assert.equal(await metric('edgeset_agent_connected'), 1);
          assert.ok((await metric('edgeset_agent_cache_age_seconds')) < 60);
          assert.equal(await metric('edgeset_agent_decisions_unkept'), 0);
          assert.equal(await metric('edgeset_agent_decisions_damaged'), 0);
          assert.equal(await metric('edgeset_agent_info'), 1);
          assert.ok((await metric('edgeset_agent_connections')) >= 0);
          assert.ok((await metric('edgeset_agent_event_streams')) >= 0);
          assert.ok((await metric('edgeset_agent_answers_total{code="200"}')) >= 3);
          assert.ok((await metric('rest_client_requests_total{code="200"')) !== 0);
          const refused = await new Promise<number>((resolve, reject) => {
            const sent = plainRequest(`${url}/pods`, { headers: { host: 'elsewhere.example' } }, (response) => {
              response.resume();
              resolve(response.statusCode ?? 0);
            });
            sent.on('error', reject);
            sent.end();
          });
          assert.equal(refused, 421);
          assert.equal(await metric('edgeset_agent_refusals_total{reason="UnknownHost"}'), 1);

          const [decided] = await c.until('OwnerDecided', async () => {
            const events = await eventsOf(c, 'OwnerDecided');
            return events.length > 0 && events;
          });
          assert.match(decided?.note ?? '', new RegExp(`^Node ${c.nodes[0]}: uid:`));
          await c.setImage('app:v3');
          await c.until('DecisionSuperseded', async () => (await eventsOf(c, 'DecisionSuperseded')).length > 0);
          const next = await c.until('the next revision is offered', async () => {
            const update = await owner.update();
            return update.state === 'available' && update.target.revision !== revision && update;
          });
          const permit = await refusePods(c, {
            operation: 'DELETE',
            expression: 'false',
            message: 'no pod of this namespace may go',
          });
          await writeFile(parked, '');
          await owner.decide({ revision: next.target.revision, decision: 'approve', when: { type: 'safe' } });
          const [told] = await c.until('UpdateRefused', async () => {
            const events = await eventsOf(c, 'UpdateRefused');
            return events.length > 0 && events;
          });
          assert.equal(told?.type, 'Warning');
          assert.match(told?.note ?? '', /no pod of this namespace may go/);
          await permit();
          await c.untilRunning('app:v3');
          const [done] = await c.until('UpdateCarriedOut', async () => {
            const events = await eventsOf(c, 'UpdateCarriedOut');
            return events.length > 0 && events;
          });
          assert.equal(done?.type, 'Normal');
          assert.notEqual((await c.podOn(c.nodes[0])).name, pod);
          await owner.untilShown('current');
          await c.until('its history says so', async () => {
            const { items: history } = await json<{ items: { what: string }[] }>('/edgeset.io/v1/history');
            return history.some(({ what }) => what === 'Updated');
          });
        });
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    { nodes: 1, refusals: true },
  );
});
