import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readAnswers, sendRaw } from '../../../src/agent/http/testing/index.ts';
import type { AuditRecord } from '../../conformance/index.ts';
import { startEmbeddedCluster } from '../../embedded/cluster.ts';
import { createAttackLog, type Tally } from './attack-log.ts';
import { addressOf, attack, causeOf, dribble, forge, NOBODY, scriptAs, unlessRoot } from './attacker.ts';
import { type Announced, openTarget } from './target.ts';

const cluster = await startEmbeddedCluster();
const victim = await openTarget(cluster);
const { agent, namespace, foreign } = victim;
let waiting: Announced = await victim.announce();
const attackLog = createAttackLog(async () => (await victim.writes()).length);
after(async () => {
  attackLog.print();
  await agent.stop();
  await cluster.stop();
});

const upgrade = (pod = waiting.pod, inNamespace = namespace): string =>
  `/openyurt.io/v1/namespaces/${inNamespace}/pods/${pod}/upgrade`;
const decision = `/edgeset.io/v1/updates/${namespace}/app/decision`;
const consent = (): string => JSON.stringify({ revision: waiting.revision, decision: 'approve' });
const asJson = (body: string, type = 'application/json'): string[] => [
  `Content-Type: ${type}`,
  `Content-Length: ${Buffer.byteLength(body)}`,
];
/** Events report earlier updates and arrive at any time. */
const acts = async (): Promise<AuditRecord[]> =>
  (await victim.writes()).filter(({ resource }) => resource !== 'events');
const deletes = async (): Promise<string[]> =>
  (await acts()).filter(({ verb, resource }) => verb === 'delete' && resource === 'pods').map(({ name }) => name);

/** All requests that could start the pending update, with these headers. */
const both = async (tally: Tally, changes: { host?: string; headers?: string[] }, type?: string): Promise<void> => {
  const { headers = [], ...rest } = changes;
  for (const request of [
    { target: upgrade(), headers },
    { target: `${upgrade()}?queue=true`, headers },
    { target: decision, headers: [...headers, ...asJson(consent(), type)], body: consent() },
  ]) {
    const [answer] = await attack(victim, { ...request, ...rest });
    tally.answered(answer?.status, answer && causeOf(answer));
  }
};

attackLog.attack('DNS rebinding: a page whose name resolves to this device', async (tally) => {
  const { port } = agent;
  for (const host of [
    `evil.example:${port}`,
    'evil.example',
    `localhost.evil.example:${port}`,
    `127.0.0.1.:${port}`,
    '',
  ])
    await both(tally, { host });
});

attackLog.attack('cross-site requests: forms and scripts of another page', async (tally) => {
  for (const headers of [
    ['Origin: https://evil.example'],
    ['Origin: null'],
    [`Origin: http://localhost:${agent.port + 1}`, 'Sec-Fetch-Site: same-site'],
    ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'],
  ])
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json'])
      await both(tally, { headers }, type);
});

attackLog.attack('a form post from a browser that sends no origin', async (tally) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const [answer] = await attack(victim, { target: decision, headers: asJson(consent(), type), body: consent() });
    tally.answered(answer?.status, answer && causeOf(answer));
  }
});

attackLog.attack('slow loris: heads and bodies that never end', async (tally) => {
  const head = `POST ${decision} HTTP/1.1\r\nHost: ${addressOf(victim)}\r\n`;
  const body = `${head}Content-Type: application/json\r\nContent-Length: 400\r\n\r\n`;
  const slow = [
    ...Array.from({ length: 10 }, () => [head, 'X: y\r\n']),
    ...Array.from({ length: 10 }, () => [body, ' ']),
  ];
  await Promise.all(
    slow.map(async ([start = '', more = '']) =>
      tally.answered(readAnswers(await dribble(victim, start, more))[0]?.status),
    ),
  );
  assert.equal((await fetch(`${agent.url}/pods`)).status, 200);
});

attackLog.attack('bodies and heads that are too large', async (tally) => {
  for (const [target, headers, body] of [
    [decision, asJson('x'.repeat(5000)), 'x'.repeat(5000)],
    [decision, ['Content-Type: application/json', 'Content-Length: 999999999999'], ''],
    [upgrade(), ['Content-Length: 1000000'], 'x'.repeat(100_000)],
    [upgrade(), ['Transfer-Encoding: chunked'], `30d40\r\n${'x'.repeat(0x30d40)}\r\n0\r\n\r\n`],
    [
      decision,
      ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
      `1400\r\n${'x'.repeat(0x1400)}\r\n0\r\n\r\n`,
    ],
    [upgrade(), [`X: ${'x'.repeat(20_000)}`], ''],
    [upgrade(), Array.from({ length: 3000 }, (_, at) => `X-${at}: 1`), ''],
    [`${upgrade()}?${'x'.repeat(5000)}`, [], ''],
  ] as const) {
    const [answer] = await attack(victim, { target, headers, body });
    tally.answered(answer?.status);
  }
});

attackLog.attack('paths that normalize to another path', async (tally) => {
  const name = waiting.pod;
  for (const target of [
    `/../openyurt.io/v1/namespaces/${namespace}/pods/${name}/upgrade`,
    `/pods/..${upgrade()}`,
    `//openyurt.io/v1/namespaces/${namespace}/pods/${name}/upgrade`,
    `${upgrade()}/`,
    `${upgrade()}/.`,
    upgrade(`${name}%2f`),
    upgrade(`..%2f${name}`),
    upgrade(`%2e%2e/${name}`),
    upgrade(`%252e%252e`),
    upgrade(`x/../${name}`),
    upgrade(`${name}%00`),
    upgrade(`${name}\\`),
    upgrade(`${name};x=y`),
    upgrade(name.toUpperCase()),
    upgrade(name, `${namespace}%2f..%2f${foreign.namespace}`),
    upgrade(name, '..'),
    `http://${addressOf(victim)}${upgrade()}`,
    `http://evil.example${upgrade()}`,
    upgrade().replace('/upgrade', '/UPGRADE'),
    upgrade().replace('openyurt.io', 'openyurt%2eio'),
    `*`,
  ]) {
    const [answer] = await attack(victim, { target });
    tally.answered(answer?.status, answer && causeOf(answer));
  }
});

attackLog.attack('pods of other namespaces or nodes, and missing pods', async (tally) => {
  for (const target of [
    upgrade(foreign.pod, foreign.namespace),
    upgrade(waiting.elsewhere),
    upgrade('no-such-pod'),
    upgrade(waiting.pod, 'kube-system'),
    upgrade(waiting.pod, foreign.namespace),
  ]) {
    const [answer] = await attack(victim, { target });
    tally.answered(answer?.status);
    const [pull] = await attack(victim, { target: target.replace('upgrade', 'imagepull') });
    tally.answered(pull?.status);
  }
});

attackLog.attack('request smuggling: ambiguous framing', async (tally) => {
  const second = forge(victim, { target: upgrade() });
  const post = `POST ${upgrade()} HTTP/1.1\r\nHost: ${addressOf(victim)}\r\nConnection: close\r\n`;
  for (const bytes of [
    `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
    `${post}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd${second}`,
    `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${second}`,
    `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${second}`,
    `${post}Content-Length: -1\r\n\r\n${second}`,
    `${post}Host: evil.example\r\n\r\n`,
    `${post}X: a\rHost: evil.example\r\n\r\n`,
    `${post}X: a\nContent-Length : 3\r\n\r\n`,
    `POST ${upgrade()}\r\n\r\n`,
    `POST ${upgrade()} HTTP/3.0\r\nHost: ${addressOf(victim)}\r\n\r\n`,
    `POST ${upgrade()} HTTP/1.0\r\n\r\n`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    `CONNECT ${addressOf(victim)} HTTP/1.1\r\nHost: ${addressOf(victim)}\r\n\r\n`,
  ]) {
    const answers = await sendRaw(addressOf(victim), bytes);
    assert.ok(answers.length <= 1, `one answer at most: ${JSON.stringify(bytes.slice(0, 80))}`);
    tally.answered(answers[0]?.status, answers[0] && causeOf(answers[0]));
  }
});

attackLog.attack('reads with side effects, and overridden methods', async (tally) => {
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'MKCOL'])
    for (const target of [upgrade(), `${upgrade()}?_method=POST`, decision]) {
      const [answer] = await attack(victim, { method, target, headers: ['X-HTTP-Method-Override: POST'] });
      tally.answered(answer?.status);
    }
});

attackLog.attack('decisions that name an image or other unknown fields', async (tally) => {
  for (const more of [
    { image: 'evil:1' },
    { when: { type: 'now', image: 'evil:1' } },
    { choice: 'approve' },
    { __proto__x: 1 },
  ]) {
    const body = JSON.stringify({ revision: waiting.revision, decision: 'approve', ...more });
    const [answer] = await attack(victim, { target: decision, headers: asJson(body), body });
    tally.answered(answer?.status, answer && causeOf(answer));
  }
  const old = JSON.stringify({ revision: '5d4f8c7b9', decision: 'approve' });
  const [answer] = await attack(victim, { target: decision, headers: asJson(old), body: old });
  tally.answered(answer?.status, answer && causeOf(answer));
});

/** A request from nobody as a script; `end` runs right after it was written. */
const nobody = (times: number, atOnce: number, end: string): Promise<string[]> =>
  scriptAs(
    NOBODY,
    `const net = require('net');
     const request = ${JSON.stringify(forge(victim, { target: upgrade() }))};
     const one = () => new Promise((done) => {
       let text = '';
       const socket = net.connect(${agent.port}, '127.0.0.1', () => socket.write(request, () => { ${end} }));
       socket.on('data', (chunk) => { text += chunk; });
       socket.on('error', () => {});
       socket.on(${JSON.stringify(end.includes('end()') ? 'finish' : 'close')}, () => { console.log(text.slice(9, 12) || 'closed'); done(); });
     });
     (async () => {
       for (let at = 0; at < ${times}; at += ${atOnce}) await Promise.all(Array.from({ length: ${atOnce} }, one));
       process.exit();
     })();`,
  );
const count = (tally: Tally, answers: readonly string[]): void => {
  for (const answer of answers) tally.answered(answer === 'closed' ? undefined : Number(answer));
};

attackLog.attack(
  "another user's process",
  async (tally) => {
    count(tally, await nobody(10, 1, ''));
  },
  { skip: unlessRoot },
);

attackLog.attack(
  'a caller as nobody that closes its socket at once, so that its row says root',
  async (tally) => {
    const before = await victim.errors();
    for (let round = 0; round < 5; round += 1)
      for (const end of ['socket.destroy()', 'socket.end()', 'socket.resetAndDestroy()']) {
        // While stopped, the agent accepts these connections only after they closed: their rows are in TIME_WAIT by then.
        agent.pause();
        try {
          count(tally, await nobody(15, 15, end));
        } finally {
          agent.resume();
        }
        // These were accepted before this one.
        assert.equal((await fetch(`${agent.url}/edgeset.io/v1/device`)).status, 200);
      }
    // No one reads the responses; the agent counts them. None passed authentication.
    const { answered, refused } = await victim.errors();
    assert.equal(answered - before.answered, refused - before.refused);
    assert.ok(refused > before.refused);
  },
  { skip: unlessRoot },
);

attackLog.attack(
  'a flood of connections and requests by nobody, while root is served',
  async (tally) => {
    // More connections at once than allowed, while root opens a new one each time.
    const flood = nobody(900, 300, '');
    const served = new Set<number>();
    for (let at = 0; at < 10; at += 1)
      served.add((await fetch(`${agent.url}/pods`, { headers: { connection: 'close' } })).status);
    count(tally, await flood);
    assert.deepEqual(served, new Set([200]));
  },
  { skip: unlessRoot },
);

attackLog.once('50 requests at once for one pod', async (tally) => {
  const before = await deletes();
  const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(agent.url + upgrade(), { method: 'POST' })));
  for (const { status } of answers) tally.answered(status);
  const sent = (await deletes()).slice(before.length);
  assert.deepEqual(sent, [waiting.pod], 'one delete, of this pod');
  // The rate limit also applies to root, and this suite has used some of it.
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(statuses.has(200));
  assert.ok(statuses.isSubsetOf(new Set([200, 403, 429])), 'told as the first one, that it goes, or to come again');
  return '1 delete';
});

const afterActs = { writes: async () => (await acts()).length };

attackLog.attack(
  'a request while the pod is being replaced',
  async (tally) => {
    for (let at = 0; at < 5; at += 1) {
      const [answer] = await attack(victim, { target: upgrade() });
      tally.answered(answer?.status, answer?.body.includes('is deleting') ? 'is deleting' : undefined);
    }
  },
  afterActs,
);

attackLog.attack(
  'replays of what was done before',
  async (tally) => {
    await victim.podAfter(waiting.pod);
    for (let at = 0; at < 10; at += 1) {
      const [answer] = await attack(victim, { target: upgrade() });
      tally.answered(answer?.status);
    }
    const [answer] = await attack(victim, { target: decision, headers: asJson(consent()), body: consent() });
    tally.answered(answer?.status, answer && causeOf(answer));
  },
  afterActs,
);

attackLog.once('50 decisions at once for one DaemonSet', async (tally) => {
  waiting = await victim.announce();
  const before = await deletes();
  const body = consent();
  const headers = { 'content-type': 'application/json' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => fetch(agent.url + decision, { method: 'POST', headers, body })),
  );
  for (const { status } of answers) tally.answered(status);
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(statuses.has(202));
  assert.ok(statuses.isSubsetOf(new Set([202, 409, 429])));
  await victim.podAfter(waiting.pod);
  assert.deepEqual((await deletes()).slice(before.length), [waiting.pod]);
  return '1 delete';
});

attackLog.once('requests for a pod that an administrator deletes meanwhile', async (tally) => {
  waiting = await victim.announce();
  const before = await deletes();
  const [removed, ...answers] = await Promise.all([
    victim.remove(waiting.pod),
    ...Array.from({ length: 5 }, () => fetch(agent.url + upgrade(), { method: 'POST' })),
  ]);
  assert.equal(removed, undefined);
  for (const { status } of answers) tally.answered(status);
  const replaced = await victim.podAfter(waiting.pod);
  const [late] = await attack(victim, { target: upgrade() });
  tally.answered(late?.status);
  assert.equal(late?.status, 404);
  const sent = (await deletes()).slice(before.length);
  assert.ok(sent.every((name) => name === waiting.pod) && sent.length <= 1, 'never its successor');
  assert.equal((await victim.podAfter(waiting.pod)).uid, replaced.uid);
  return `${sent.length} deletes of the old pod, 0 of its successor`;
});

test('the agent still works after all attacks', async () => {
  assert.equal((await fetch(`${agent.health}/healthz`)).status, 200);
  const log = await agent.log();
  assert.doesNotMatch(log, /"level":"error"/);
});
