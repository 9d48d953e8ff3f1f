import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parseConfig } from './config.ts';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const webhook = (change = ''): string => `
targets:
  - {name: bus, type: webhook, url: 'https://hooks.example.com/e', keys: ['${KEY}']}
${change}`;

describe('a configuration', () => {
  it('has defaults', () => {
    const { cluster, stragglersAfterMs, targets } = parseConfig(webhook());
    assert.equal(cluster, undefined);
    assert.equal(stragglersAfterMs, 24 * 3_600_000);
    assert.deepEqual([...targets.keys()], ['bus']);
  });

  it('may have every field', () => {
    const config = parseConfig(`
cluster: shops-eu
stragglersAfter: 90m
plainHttpHosts: [relay.monitoring.svc, "127.0.0.1:8080"]
targets:
  - name: bus
    type: webhook
    url: http://relay.monitoring.svc:9000/e
    keys: ["${KEY}", "${KEY}"]
    headers: {Authorization: Bearer x}
    namespaces: [shop, team-*]
    kinds: [halted, waiting]
  - {name: chat, type: slack, url: "https://hooks.slack.com/services/T/B/x"}
  - {name: team, type: teams, url: "https://prod-1.logic.azure.com/workflows/x"}
  - name: push
    type: template
    url: http://127.0.0.1:8080/
    contentType: application/JSON;charset="UTF-8"
    body: '{"text": "{{title}}: {{message}}", "failed": {{failed}}}'
`);
    assert.equal(config.cluster, 'shops-eu');
    assert.equal(config.stragglersAfterMs, 90 * 60_000);
    assert.deepEqual(
      [...config.targets.values()].map(({ type }) => type),
      ['webhook', 'slack', 'teams', 'template'],
    );
  });

  it('in the guide is valid', () => {
    const guide = readFileSync(path.join(import.meta.dirname, '../../docs/how-to/notify.md'), 'utf8');
    const examples = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);
    assert.deepEqual(
      examples.map((text) => [...parseConfig(text).targets.keys()]),
      [
        ['bus', 'on-call'],
        ['push', 'pager'],
      ],
    );
  });

  it('may have no targets, to stop all notifications', () => {
    assert.equal(parseConfig('targets: []').targets.size, 0);
  });

  const target = (fields: string): string => `targets: [{name: t, ${fields}}]`;
  const slack = "type: slack, url: 'https://h.example.com/x'";
  for (const [what, text, expected] of [
    ['no YAML', 'targets: [}', /^is not valid YAML \(line 1\)$/],
    ['a file that takes long to read', '['.repeat(2 ** 20), /^has more than 262144 characters: give fewer/],
    ['an empty file', '', /expected object|targets/i],
    ['no targets', 'cluster: a', /^targets: must be a list of targets/],
    ['an unknown field', `${webhook()}colour: red`, /"colour"/],
    ['an unknown field of a target', target(`${slack}, channel: ops`), /^targets\[0\].*"channel"/],
    ['an unknown type', target("type: irc, url: 'https://h/'"), /^targets\[0\].*webhook, slack, teams or template/],
    ['no URL', target('type: slack'), /^targets\[0\]\.url: must be a URL/],
    ['another scheme', target("type: slack, url: 'file:///etc/passwd'"), /^targets\[0\]\.url: must be a URL such as/],
    ['credentials in a URL', target("type: slack, url: 'https://a:b@h/'"), /^targets\[0\]\.url: .*use headers/],
    [
      'plain HTTP',
      target("type: slack, url: 'http://h/x'"),
      /^targets\[0\]\.url: must begin with https.*plainHttpHosts/,
    ],
    [
      'plain HTTP to another port',
      `plainHttpHosts: ["h:81"]\n${target("type: slack, url: 'http://h:82/'")}`,
      /plainHttpHosts/,
    ],
    ['an unknown kind', target(`${slack}, kinds: [finished]`), /^targets\[0\]\.kinds\[0\]: must be one of started/],
    ['no kind', target(`${slack}, kinds: []`), /^targets\[0\]\.kinds: is empty/],
    ['a namespace that is none', target(`${slack}, namespaces: ["*shop"]`), /^targets\[0\]\.namespaces\[0\]: must be/],
    [
      'a name that is none',
      "targets: [{name: A B, type: slack, url: 'https://h/'}]",
      /^targets\[0\]\.name: must consist/,
    ],
    ['one name twice', `targets: [{name: t, ${slack}}, {name: t, ${slack}}]`, /^targets\[1\]\.name: another target/],
    ['no keys', target("type: webhook, url: 'https://h/'"), /^targets\[0\]\.keys: must be a list of signing keys/],
    [
      'a short key',
      target("type: webhook, url: 'https://h/', keys: [whsec_c2hvcnQ=]"),
      /keys\[0\]: must be whsec_.*openssl/,
    ],
    ['a key of another form', target("type: webhook, url: 'https://h/', keys: [hunter2hunter2]"), /keys\[0\]: must be/],
    [
      'an unknown placeholder',
      target("type: template, url: 'https://h/', body: '{{colour}}'"),
      /\.body: .*\{\{message\}\}/,
    ],
    [
      'a body that is no JSON',
      target("type: template, url: 'https://h/', contentType: application/json, body: '{\"a\": {{message}}}'"),
      /\.body: is not JSON/,
    ],
    [
      'a stage outside of quotes in JSON',
      target("type: template, url: 'https://h/', contentType: application/x+json, body: '{\"a\": 1{{stage}}}'"),
      /\.body: is not JSON once/,
    ],
    [
      'a line that is no JSON',
      target('type: template, url: \'https://h/\', contentType: application/x-ndjson, body: "{}\\n{{message}}"'),
      /\.body: is not JSON on each line/,
    ],
    ...[
      'application/yaml',
      'application/json5',
      'application/jsonl',
      'application/geo+json-seq',
      'application/xml',
      'text/html',
      'text/javascript',
      'text/markdown',
      'text/x+json',
      'multipart/form-data',
      'text/plain; charset=utf-16',
      'text/plain; charset=utf-8; json',
      'plain',
    ].map(
      (type) =>
        [
          `content type ${type}`,
          target(`type: template, url: 'https://h/', contentType: '${type}', body: '{"a": "{{message}}"}'`),
          /^targets\[0\]\.contentType: must be text\/plain, application\/json .*application\/x-www-form-urlencoded/,
        ] as const,
    ),
    ['a header of two lines', target(`${slack}, headers: {X-A: "a\\nb"}`), /headers.*printable ASCII on one line/],
    ['a header of our own', target(`${slack}, headers: {Webhook-Id: x}`), /headers: must not set/],
    [
      'an authority that is none',
      target(`${slack}, ca: /etc/ca.pem`),
      /^targets\[0\]\.ca: must be certificates in PEM/,
    ],
    ['a duration that is none', `stragglersAfter: soon\n${webhook()}`, /^stragglersAfter: .*is not a duration/],
    [
      'too many targets',
      `targets: [${Array.from({ length: 17 }, (_, n) => `{name: t${n}, ${slack}}`).join(', ')}]`,
      /at most 16/,
    ],
  ] as const)
    it(`with ${what} is refused`, () => {
      assert.throws(
        () => parseConfig(text),
        (error: Error) => {
          assert.match(error.message, expected);
          assert.doesNotMatch(error.message, /hunter2|c2hvcnQ/, 'it quotes no secret');
          return true;
        },
      );
    });
});
