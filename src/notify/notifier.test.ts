import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  createTestAuthority,
  createTestClock,
  eventually,
  onBody,
  sendJson,
  startTestServer,
  type TestServer,
} from '../../test/support/index.ts';
import type { Delivery } from '../controller/index.ts';
import { type Clock, silentLogger, systemClock } from '../runtime/index.ts';
import { type NotificationsConfig, parseConfig } from './config.ts';
import { createNotifier } from './notifier.ts';
import { createPost } from './post.ts';

const authority = createTestAuthority();
const KEYS = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
/** Ends in half a character, as a text that was cut may. */
const MESSAGE = 'It failed on <!channel> "n1".\n\ud83d';
const closing: TestServer[] = [];
const terms: AbortController[] = [];
const newTerm = (): AbortController => {
  const leading = new AbortController();
  terms.push(leading);
  return leading;
};
after(async () => {
  for (const leading of terms) leading.abort();
  await Promise.all(closing.map((server) => server.close()));
});

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** A receiver over TLS. `answer` gives the status of the nth request and its id; undefined: it never answers. */
const receiver = async (answer: (nth: number, id: string) => number | undefined = () => 204) => {
  const received: Received[] = [];
  const server = await startTestServer(
    { protocol: 'https', identity: authority.issue('receiver') },
    (request, response) => {
      const headers = request.headers as Record<string, string>;
      onBody(request, (body) => {
        received.push({ headers, body });
        const status = answer(received.length, headers['webhook-id'] ?? '');
        if (status !== undefined) sendJson(response, {}, status);
      });
    },
  );
  closing.push(server);
  const ids = (): string[] => received.map(({ headers }) => headers['webhook-id'] ?? '');
  return { server, received, ids, url: `${server.url}/in` };
};

const delivery = (
  change: Partial<Delivery> & { kind?: 'started' | 'halted'; uid?: string; namespace?: string } = {},
): Delivery => {
  const { kind = 'halted', uid = 'u', namespace = 'shop', ...others } = change;
  return {
    id: `${uid}-3-${kind}`,
    target: 'bus',
    daemonSet: { apiVersion: 'apps/v1', kind: 'DaemonSet', short: 'ds', namespace, name: 'app', uid, rolloutName: 'r' },
    notification: {
      kind,
      reason: 'Failures',
      rollout: 3,
      revision: 'app-6d8c',
      at: new Date(systemClock.now()).toISOString(),
      message: MESSAGE,
      nodes: { eligible: 9, online: 8, updated: 2, failed: 1, offline: 1 },
      targets: ['bus'],
    },
    ...others,
  };
};

const configOf = (...targets: string[]): NotificationsConfig =>
  parseConfig(
    `cluster: eu\ntargets:\n${targets.map((each) => `  - {${each}, ca: ${JSON.stringify(authority.cert)}}\n`).join('')}`,
  );
const webhookAt = (url: string, name = 'bus'): string =>
  `name: ${name}, type: webhook, url: "${url}", keys: ${JSON.stringify(KEYS)}`;

const start = (first: NotificationsConfig, { clock = systemClock }: { clock?: Clock } = {}) => {
  let config = first;
  const results: string[] = [];
  const leading = newTerm();
  const notifier = createNotifier({
    env: { clock, random: () => 0.5, log: silentLogger },
    config: () => config,
    post: createPost({ clock: systemClock, environment: {}, timeoutMs: 5_000 }),
    userAgent: 'edgeset-manager/test',
    wallClock: systemClock,
    onResult: (target, result) => void results.push(`${target} ${result}`),
  });
  const settled: string[] = [];
  return {
    notifier,
    results,
    settled,
    leading,
    send: (one: Delivery, { signal } = leading) =>
      notifier.send(one, () => void settled.push(`${one.target} ${one.id}`), signal),
    reload: (next: NotificationsConfig): void => {
      config = next;
      notifier.configChanged();
    },
  };
};

describe('a webhook', () => {
  it('carries a CloudEvent that the reference library verifies with either key', async () => {
    const { received, url } = await receiver();
    const { send, settled } = start(configOf(webhookAt(url)));
    send(delivery());
    await eventually('it is delivered', () => settled.length === 1);
    const [{ headers, body }] = received as [Received];
    for (const key of KEYS) new Webhook(key).verify(body, headers);
    assert.throws(() => new Webhook(`whsec_${Buffer.alloc(32, 9).toString('base64')}`).verify(body, headers));
    assert.throws(() => new Webhook(KEYS[0]!).verify(`${body} `, headers));
    assert.equal(headers['webhook-id'], 'u-3-halted');
    assert.equal(headers['content-type'], 'application/cloudevents+json; charset=utf-8');
    const { time, data, ...event } = JSON.parse(body) as { time: string; data: Record<string, unknown> };
    assert.deepEqual(event, {
      specversion: '1.0',
      id: 'u-3-halted',
      source: '/edgeset/clusters/eu',
      type: 'io.edgeset.rollout.halted',
      subject: '/apis/apps/v1/namespaces/shop/daemonsets/app',
      datacontenttype: 'application/json',
    });
    assert.ok(Math.abs(Date.parse(time) - systemClock.now()) < 60_000);
    assert.deepEqual(Object.keys(data).toSorted(), [
      'cluster',
      'daemonSet',
      'message',
      'nodes',
      'reason',
      'revision',
      'rollout',
    ]);
  });

  it('keeps its id in every attempt, and is signed again', async () => {
    const clock = createTestClock();
    const { received, url } = await receiver((nth) => (nth < 3 ? 503 : 200));
    const { send, settled, results } = start(configOf(webhookAt(url)), { clock });
    send(delivery());
    for (const attempts of [1, 2, 3]) {
      await eventually(`attempt ${attempts}`, () => results.length >= attempts);
      await clock.advance(5_000);
    }
    assert.deepEqual(results, ['bus failed', 'bus failed', 'bus delivered']);
    assert.deepEqual(settled, ['bus u-3-halted']);
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
    for (const { headers, body } of received) new Webhook(KEYS[0]!).verify(body, headers);
  });
});

describe('other targets', () => {
  const bodyFor = async (target: string): Promise<Received> => {
    const { received, url } = await receiver();
    const { send, settled } = start(configOf(`name: bus, url: "${url}", ${target}`));
    send(delivery());
    await eventually('it is delivered', () => settled.length === 1);
    return received[0]!;
  };

  it('of Slack get blocks of plain text, which mention nobody', async () => {
    const { text, blocks } = JSON.parse((await bodyFor('type: slack')).body) as {
      text: string;
      blocks: { text?: { type: string; text: string }; elements?: { text: string }[] }[];
    };
    assert.equal(text, 'eu: shop/app: rollout halted');
    assert.deepEqual(
      blocks.map((block) => block.text?.type),
      ['plain_text', 'plain_text', undefined],
    );
    assert.match(blocks[1]?.text?.text ?? '', /<!channel>/);
    assert.equal(blocks[2]?.elements?.[0]?.text, 'app-6d8c: 2 of 8 online nodes updated, 1 failed, 1 offline');
  });

  it('say which stage waits for people', async () => {
    const { received, url } = await receiver();
    const template = `name: bus, url: "${url}", type: template, body: "{{title}} ({{stage}}, {{reason}})"`;
    const { send, settled } = start(configOf(template));
    const { notification, ...rest } = delivery();
    for (const [uid, reason] of [
      ['a', 'AwaitingApproval'],
      ['b', 'StageTimedOut'],
    ] as const) {
      send({ ...rest, id: uid, notification: { ...notification, kind: 'waiting', reason, stage: 'canary' } });
      await eventually(`${uid} is delivered`, () => settled.includes(`bus ${uid}`));
    }
    assert.deepEqual(
      received.map(({ body }) => body),
      [
        'eu: shop/app: stage canary waits for approval (canary, AwaitingApproval)',
        'eu: shop/app: stage canary has timed out (canary, StageTimedOut)',
      ],
    );
  });

  it('of Teams get an adaptive card', async () => {
    const { type, attachments } = JSON.parse((await bodyFor('type: teams')).body) as {
      type: string;
      attachments: { contentType: string; content: { type: string; body: { type: string }[] } }[];
    };
    assert.equal(type, 'message');
    assert.equal(attachments[0]?.contentType, 'application/vnd.microsoft.card.adaptive');
    assert.equal(attachments[0]?.content.type, 'AdaptiveCard');
    assert.ok(attachments[0]?.content.body.every((each) => each.type === 'RichTextBlock'));
  });

  it('get the text of their template, encoded for its type', async () => {
    const json = await bodyFor(
      `type: template, contentType: application/json, body: '{"m": "{{message}}", "n": {{failed}}, "r": "{{reason}}"}', headers: {X-Token: abc}`,
    );
    assert.deepEqual(JSON.parse(json.body), { m: MESSAGE, n: 1, r: 'Failures' });
    assert.equal(json.headers['x-token'], 'abc');
    const text = await bodyFor(
      `type: template, body: "{{namespace}}/{{ name }} of {{cluster}}: {{updated}}/{{online}}"`,
    );
    assert.equal(text.body, 'shop/app of eu: 2/8');
    assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8');
    const lines = await bodyFor(
      `type: template, contentType: application/x-ndjson, body: "{\\"a\\": 1}\\n{\\"m\\": \\"{{message}}\\"}\\n"`,
    );
    assert.deepEqual(lines.body.split('\n'), ['{"a": 1}', `{"m": ${JSON.stringify(MESSAGE)}}`, '']);
    const form = await bodyFor(
      `type: template, contentType: application/x-www-form-urlencoded, body: "text={{message}}"`,
    );
    assert.equal(new URLSearchParams(form.body).get('text'), MESSAGE.toWellFormed());
  });
});

describe('a target that fails', () => {
  it('delays no other, whatever waits for it', async () => {
    const silent = await receiver(() => undefined);
    const good = await receiver();
    const { send, settled } = start(configOf(webhookAt(silent.url, 'silent'), webhookAt(good.url)));
    for (let n = 0; n < 10_000; n += 1)
      assert.ok(send(delivery({ target: 'silent', uid: `u${n}`, namespace: `ns${n % 10}` }), newTerm()));
    assert.ok(send(delivery()));
    await eventually('the other hears', () => settled.length === 1, { withinMs: 1_000 });
    assert.ok(silent.received.length <= 1, 'and it gets one request at a time');
  });

  it('gets one request at a time, less and less often; then the namespaces hear in turn, at a bounded pace', async () => {
    const clock = createTestClock();
    let works = false;
    const { received, ids, url } = await receiver(() => (works ? 200 : 500));
    const { send, settled, results } = start(configOf(webhookAt(url)), { clock });
    for (let n = 0; n < 1_000; n += 1) send(delivery({ uid: `u${n}` }));
    for (const [attempts, restMs] of [
      [1, 750],
      [2, 1_500],
      [3, 3_000],
    ] as const) {
      await eventually(`attempt ${attempts}`, () => results.length === attempts);
      await clock.advance(restMs - 1);
      assert.equal(received.length, attempts);
      await clock.advance(1);
    }
    await eventually('one more attempt', () => results.length === 4);
    send(delivery({ uid: 'neighbour', namespace: 'other' }));
    works = true;
    await clock.advance(6_000);
    for (const most of [21, 31]) {
      await eventually(`${most} are delivered`, () => settled.length === most);
      await clock.advance(99);
      assert.equal(received.length, 4 + most);
      await clock.advance(901);
    }
    assert.ok(ids().slice(4, 6).includes('neighbour-3-halted'));
  });

  it('for what one namespace tells hears of the others, and of its other DaemonSets', async () => {
    const clock = createTestClock();
    const { ids, url } = await receiver((_, id) => (id.startsWith('bad') ? 500 : 200));
    const { send, settled, results } = start(configOf(webhookAt(url)), { clock });
    for (const one of [{ uid: 'bad', kind: 'started' }, { uid: 'bad' }, { uid: 'good' }] as const) send(delivery(one));
    await eventually('the first attempt', () => results.length === 1);
    send(delivery({ uid: 'neighbour', namespace: 'other' }));
    await clock.advance(1_000);
    await eventually('the others are delivered', () => settled.length === 2);
    assert.deepEqual(ids().slice(0, 3).toSorted(), ['bad-3-started', 'good-3-halted', 'neighbour-3-halted']);
    for (let n = 0; n < 30; n += 1) {
      send(delivery({ uid: `n${n}`, namespace: 'other' }));
      await clock.advance(1_000);
    }
    await eventually('the neighbours are delivered', () => settled.length === 32);
    const bad = ids().filter((id) => id.startsWith('bad'));
    assert.ok(bad.length <= 8, `${bad.length} attempts`);
    assert.ok(!bad.includes('bad-3-halted'), 'what comes later stays behind');
  });

  it('hears in order once it works', async () => {
    const clock = createTestClock();
    let works = false;
    const { received, url } = await receiver(() => (works ? 200 : 500));
    const { send, settled, results } = start(configOf(webhookAt(url)), { clock });
    send(delivery({ kind: 'started' }));
    await eventually('the first attempt', () => results.length === 1);
    send(delivery({ kind: 'halted' }));
    works = true;
    const before = received.length;
    await clock.advance(5_000);
    await eventually('both are delivered', () => settled.length === 2);
    assert.deepEqual(
      received.slice(before).map(({ headers }) => headers['webhook-id']),
      ['u-3-started', 'u-3-halted'],
    );
  });

  it('is tried again at once with a new configuration', async () => {
    const bad = await receiver(() => 404);
    const good = await receiver();
    const { send, settled, results, reload } = start(configOf(webhookAt(bad.url)), { clock: createTestClock() });
    send(delivery());
    await eventually('the first attempt', () => results.length === 1);
    reload(configOf(webhookAt(good.url)));
    await eventually('it is delivered', () => settled.length === 1);
    assert.equal(good.received.length, 1);
  });

  for (const [why, answer, age] of [
    ['refuses the request for good', 400, 0],
    ['has failed for a day', 500, 25 * 3_600_000],
  ] as const)
    it(`is given up when it ${why}`, async () => {
      const { url } = await receiver(() => answer);
      const { send, settled, results } = start(configOf(webhookAt(url)));
      const one = delivery();
      one.notification.at = new Date(systemClock.now() - age).toISOString();
      send(one);
      await eventually('it is given up', () => settled.length === 1);
      assert.deepEqual(results, ['bus dropped']);
    });

  it('is given up when the configuration no longer has it', async () => {
    const { send, settled, results } = start(parseConfig('targets: []'));
    send(delivery());
    await eventually('it is given up', () => settled.length === 1);
    assert.deepEqual(results, ['bus dropped']);
  });
});

describe('what waits', () => {
  it('is bounded for each target and namespace', () => {
    const { send } = start(configOf(webhookAt('https://127.0.0.1:1/')), { clock: createTestClock() });
    const taken = Array.from({ length: 1_100 }, (_, n) => send(delivery({ uid: `u${n}` })));
    assert.equal(taken.filter(Boolean).length, 1_000);
    assert.ok(send(delivery({ namespace: 'other' })));
    assert.ok(send(delivery({ target: 'other' })));
  });

  it('is dropped, which is said, once no DaemonRollout lists it', async () => {
    const { url } = await receiver(() => 500);
    const { send, settled, results } = start(configOf(webhookAt(url)), { clock: createTestClock() });
    const giveUp = send(delivery());
    await eventually('the first attempt', () => results.length === 1);
    for (const why of ['it has ended', 'twice']) giveUp?.(why);
    assert.deepEqual([settled, results], [['bus u-3-halted'], ['bus failed', 'bus dropped']]);
  });

  it('ends with leadership, and settles nothing', async () => {
    const { url, received } = await receiver(() => undefined);
    const { send, settled, results, leading } = start(configOf(webhookAt(url)));
    send(delivery());
    await eventually('the receiver has it', () => received.length === 1);
    leading.abort();
    assert.equal(send(delivery()), undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([settled, results], [[], []]);
  });
});

describe('terms', () => {
  it('choose targets by kind and namespace', () => {
    const { notifier } = start(
      parseConfig(`
targets:
  - {name: all, type: slack, url: "https://h/"}
  - {name: halts, type: slack, url: "https://h/", kinds: [halted]}
  - {name: shop, type: slack, url: "https://h/", namespaces: [shop, team-*]}
`),
    );
    const names = (namespace: string, kind: 'halted' | 'started'): string =>
      notifier.terms(namespace).targetsOf(kind).join(' ');
    assert.equal(names('shop', 'halted'), 'all halts shop');
    assert.equal(names('shop', 'started'), 'all shop');
    assert.equal(names('team-a', 'started'), 'all shop');
    assert.equal(names('shopping', 'started'), 'all');
  });
});
