import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Secret } from 'kubernetes-types/core/v1.d.ts';
import { createKeyring, entriesOf } from './keyring.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const json = (auths: unknown): Secret => ({
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) },
});
const auth = (text: string) => ({ auth: base64(text) });
const usersFor = (auths: Record<string, unknown>, repository: string): string[] =>
  createKeyring(entriesOf(json(auths)).entries)
    .lookUp(repository)
    .map(({ username }) => username);

describe('a keyring', () => {
  it('returns a login only for the registry, port and path that its secret names', () => {
    const cases: [key: string, repository: string, given: boolean][] = [
      ['registry.example', 'registry.example/app', true],
      ['https://registry.example', 'registry.example/app', true],
      ['http://registry.example/v2/', 'registry.example/app', true],
      ['https://registry.example/v1/', 'registry.example/app', true],
      ['registry.example', 'registry.example:5000/app', false],
      ['registry.example:5000', 'registry.example:5000/app', true],
      ['registry.example:5000', 'registry.example/app', false],
      ['registry.example:5000', 'registry.example:5001/app', false],
      ['registry.example', 'evil-registry.example/app', false],
      ['registry.example', 'registry.example.evil.test/app', false],
      ['registry.example', 'evil.test/registry.example/app', false],
      ['registry.example', 'registryXexample/app', false],
      ['registry.example/team', 'registry.example/team/app', true],
      ['registry.example/team', 'registry.example/other/app', false],
      ['*.example', 'registry.example/app', true],
      ['*.example', 'eu.registry.example/app', false],
      ['*.*.example', 'eu.registry.example/app', true],
      ['reg*.example', 'registry.example/app', true],
      ['reg?stry.example', 'registry.example/app', true],
      ['*', 'registry.example/app', false],
      ['registry.*', 'registry.example/app', true],
      ['', 'registry.example/app', false],
      ['https://index.docker.io/v1/', 'docker.io/library/busybox', true],
      ['docker.io', 'docker.io/library/busybox', true],
      ['index.docker.io', 'registry.example/app', false],
      ['localhost', 'localhost/app', true],
    ];
    for (const [key, repository, given] of cases)
      assert.deepEqual(usersFor({ [key]: auth('me:secret') }, repository), given ? ['me'] : [], `${key} ${repository}`);
  });

  it('returns the most specific login first', () => {
    const auths = { 'r.example': auth('a:1'), 'r.example/team/app': auth('c:3'), 'r.example/team': auth('b:2') };
    assert.deepEqual(usersFor(auths, 'r.example/team/app'), ['c', 'b', 'a']);
  });

  it('reads both kinds of secret, and a colon in the password', () => {
    const old: Secret = {
      type: 'kubernetes.io/dockercfg',
      data: { '.dockercfg': base64(JSON.stringify({ 'r.example': auth('me:a:b') })) },
    };
    assert.deepEqual(createKeyring(entriesOf(old).entries).lookUp('r.example/x'), [
      { username: 'me', password: 'a:b' },
    ]);
    const apart = json({ 'r.example': { username: 'me', password: 'p' } });
    assert.deepEqual(createKeyring(entriesOf(apart).entries).lookUp('r.example/x'), [
      { username: 'me', password: 'p' },
    ]);
  });

  it('reports problems without the content of the secret', () => {
    const broken = base64('{"auths": {"r.example": {"auth": "s3cret"');
    const cases: [Secret, RegExp][] = [
      [{ type: 'Opaque', data: {} }, /is not a pull secret/],
      [{ type: 'kubernetes.io/dockerconfigjson', data: {} }, /is not a pull secret/],
      [{ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': broken } }, /not valid JSON/],
      [json({ 'r.example': auth('s3cret') }), /not base64 of username:password/],
      [json({ 'r.example': 's3cret' }), /not base64 of username:password/],
      [json(['s3cret']), /is not a pull secret/],
    ];
    for (const [secret, problem] of cases) {
      const read = entriesOf(secret);
      assert.deepEqual(read.entries, []);
      assert.match(read.problem ?? '', problem);
      assert.doesNotMatch(read.problem ?? '', /s3cret/);
    }
    assert.deepEqual(entriesOf(json(undefined)), { entries: [] });
  });
});
