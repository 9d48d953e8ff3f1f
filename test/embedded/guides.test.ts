// Guides whose commands need more around them than a cluster: receivers, a manager that was gone, nodes without an image.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { parse } from 'yaml';
import { applyWith, blocksOf, describeRecoveryPage, openShell, readPage, runPage } from '../conformance/docs/index.ts';
import type { Cluster, Manager } from '../conformance/index.ts';
import { createTestAuthority, eventually, onBody, sendJson, startTestServer } from '../support/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

const bin = path.join(import.meta.dirname, '..', '..', 'bin');
const within = { withinMs: 60_000, everyMs: 100 };

interface Guide {
  cluster: Cluster;
  /** Where the commands run. */
  folder: string;
  /** The blocks of the page in this language. */
  blocks: (language: string) => readonly string[];
  /** Runs commands in the one shell of the page, and returns what they print. */
  type: (commands: string) => Promise<string>;
  start: (...args: string[]) => Promise<Manager>;
  /** A DaemonSet that opted in and whose pods run `app:v1`. */
  create: (namespace: string) => Promise<void>;
}

/** A test that plays a page on three nodes. */
const guide = (page: string, play: (guide: Guide) => Promise<void>) => async (): Promise<void> => {
  const cluster = await startEmbeddedCluster();
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-guide-'));
  const tools = `${bin}:${path.dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  const shell = openShell({ cwd: folder, env: { PATH: tools, HOME: folder, KUBECONFIG: cluster.kubeconfig } });
  const blocks = blocksOf(readPage(page));
  try {
    await cluster.addNodes(['node-1', 'node-2', 'node-3']);
    await play({
      cluster,
      folder,
      blocks: (language) => blocks.filter((block) => block.language === language).map(({ text }) => text),
      type: (commands) => shell.run(commands, within.withinMs),
      start: (...args) => cluster.startManager({ namespace: 'default', args: ['--leader-elect=false', ...args] }),
      create: async (namespace) => {
        await applyWith(cluster.kubeconfig, {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: { name: 'app', namespace, annotations: { 'apps.openyurt.io/update-strategy': 'auto' } },
          spec: {
            selector: { matchLabels: { app: 'app' } },
            updateStrategy: { type: 'OnDelete' },
            template: {
              metadata: { labels: { app: 'app' } },
              spec: { containers: [{ name: 'main', image: 'app:v1' }] },
            },
          },
        });
        await shell.run(`kubectl edgeset wait ds/app -n ${namespace} --timeout=60s`, within.withinMs);
      },
    });
  } finally {
    shell.close();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

interface Target {
  name: string;
  url: string;
  ca?: string;
}

/** The names of all fields. */
const shapeOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
    : typeof value;

interface Event {
  type: string;
  source: string;
  subject: string;
}

describe('guides, on the embedded cluster', { timeout: 300_000, concurrency: true }, () => {
  it(
    'docs/how-to/notify.md: a receiver verifies what it gets, and what another one does not take is pending',
    guide('docs/how-to/notify.md', async ({ folder, blocks, type, start, create }) => {
      const [configuration = ''] = blocks('yaml');
      const [verify = ''] = blocks('js');
      const [example = ''] = blocks('json');
      const [secret = '', pending = ''] = blocks('sh');
      const [key = ''] = /whsec_\S+(?=')/.exec(verify) ?? [];
      assert.ok(configuration.includes(key), 'the receiver has the key of the configuration');

      const events: Event[] = [];
      const authority = createTestAuthority();
      const identity = authority.issue('receiver');
      const server = await startTestServer({ protocol: 'https', identity }, (request, response) => {
        onBody(request, (body) => {
          const isBus = request.url === '/edgeset';
          if (isBus) events.push(new Webhook(key).verify(body, request.headers as Record<string, string>) as Event);
          sendJson(response, {}, isBus ? 202 : 503);
        });
      });
      try {
        const { targets, ...others } = parse(configuration) as { targets: Target[] };
        const here = targets.map((target) => ({
          ...target,
          url: target.url.replace(/^https:\/\/[^/]+/, server.url),
          ca: authority.cert,
        }));
        await writeFile(path.join(folder, 'notifications.yaml'), JSON.stringify({ ...others, targets: here }));
        await type(`kubectl create namespace edgeset-system\nkubectl create namespace shop\n${secret}`);
        const stored = "kubectl -n edgeset-system get secret edgeset-notifications -o jsonpath='{.data}'";
        assert.deepEqual(Object.keys(JSON.parse(await type(stored)) as object), ['notifications.yaml']);

        await start(`--notifications-config=${path.join(folder, 'notifications.yaml')}`);
        await create('shop');
        await type('kubectl -n shop set image daemonset/app main=app:v2--crash-loop');
        const halted = (): Event | undefined => events.find((event) => event.type === 'io.edgeset.rollout.halted');
        await eventually('the halt is told', halted, within);
        assert.deepEqual(
          events.map((event) => event.type.split('.').at(-1)),
          ['started', 'halted'],
        );
        const told = JSON.parse(example) as Event;
        assert.deepEqual(shapeOf(halted()), shapeOf(told));
        assert.equal(halted()?.source, told.source);
        assert.equal(halted()?.subject, told.subject.replace('checkout', 'app'));
        await eventually(
          'the chat, which is down, is still to be told',
          async () => /^NAME +PENDING\napp +halted$/m.test(await type(pending)),
          within,
        );
      } finally {
        await server.close();
      }
      assert.ok(server.requests.some((request) => request.startsWith('POST /services/')));
    }),
  );

  it(
    'docs/how-to/air-gapped.md: a node keeps its pod until it has the image',
    guide('docs/how-to/air-gapped.md', async ({ cluster, blocks, type, start, create }) => {
      await start();
      await create('default');
      await cluster.behave(['node-1', 'node-2', 'node-3'], { behaviour: 'not-pullable' });
      for (const commands of blocks('sh')) await type(commands);
      await eventually(
        'explain names the nodes that wait for their image',
        async () => /node-1.*image/s.test(await type('kubectl edgeset explain ds/app --all')),
        within,
      );
      const images = "kubectl get pods -l app=app -o jsonpath='{.items[*].spec.containers[0].image}'";
      assert.equal((await type(images)).trim(), 'app:v1 app:v1 app:v1');
    }),
  );
});

describe('the tutorial of stages, on the embedded cluster', { timeout: 300_000 }, () => {
  const page = 'docs/tutorial-stages.md';
  it(page, async () => {
    const cluster = await startEmbeddedCluster();
    try {
      await cluster.addNodes(Array.from({ length: 6 }, (_, index) => `node-${index + 1}`));
      await runPage({ page, cluster, manager: 'where it is started' });
    } finally {
      await cluster.stop();
    }
  });
});

describeRecoveryPage('on the embedded cluster', startEmbeddedCluster);
