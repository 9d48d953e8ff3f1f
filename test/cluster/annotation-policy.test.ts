import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { spellings } from '../../src/rollout/index.ts';
import { settingKeys } from '../../src/words/index.ts';
import { eventually } from '../support/index.ts';
import { type RealCluster, startCluster } from './index.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');

const run = promisify(execFile);

let cluster: RealCluster;
const kubectl = (...args: string[]) => run('kubectl', [`--kubeconfig=${cluster.kubeconfig}`, ...args]);

interface Shape {
  annotations: Record<string, string>;
  type?: string;
  apiVersion?: string;
  name?: string;
}

const manifest = ({ annotations, type = 'OnDelete', apiVersion = 'apps/v1', name = 'app' }: Shape): string =>
  JSON.stringify({
    apiVersion,
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default', annotations },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type },
      template: {
        metadata: { labels: { app: 'app' } },
        spec: { containers: [{ name: 'app', image: 'app:v1' }] },
      },
    },
  });

/** What `kubectl apply` says besides that it applied. */
const warnings = async (shape: Shape): Promise<string[]> => {
  const child = run('kubectl', [`--kubeconfig=${cluster.kubeconfig}`, 'apply', '--dry-run=server', '-f', '-']);
  child.child.stdin?.end(manifest(shape));
  const { stdout, stderr } = await child;
  assert.match(stdout, /^daemonset\.apps(\.kruise\.io)?\/app\S* created \(server dry run\)$/m);
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('Warning: '))
    .map((line) => line.replace(/^Warning: .*'edgeset-annotations': /, ''));
};

const auto = { 'apps.openyurt.io/update-strategy': 'auto' };

describe('the admission policy on annotations, at kubectl apply', () => {
  before(async () => {
    cluster = await startCluster();
    await kubectl('apply', '-f', join(deploy, 'crds'), '-f', join(deploy, 'annotation-policy.yaml'));
    await eventually(
      'the policy is in force',
      async () => (await warnings({ annotations: { 'edgeset.io/probe': 'x' } })).length > 0,
      { everyMs: 100 },
    );
  });
  after(() => cluster.stop());

  it('names the spelling that was meant, of every setting', async () => {
    const wrong = settingKeys.map((key) => key.slice(0, -3) + key.slice(-2));
    const [warning = '', ...others] = await warnings({
      annotations: { ...auto, ...Object.fromEntries(wrong.map((key) => [key, '1'])) },
    });
    assert.deepEqual(others, []);
    for (const [i, key] of wrong.entries()) {
      const meant = settingKeys[i] ?? '';
      const first = spellings().find(({ letters }) =>
        new RegExp(letters).test(key.slice(key.indexOf('/') + 1).replaceAll('-', '')),
      );
      assert.ok(warning.includes(`${key} (do you mean ${first?.meant}?)`), `${key} for ${meant}: ${warning}`);
    }
    assert.match(warning, /^edgeset does not know .*: the rollout is held until this is mended$/);
  });

  for (const [what, shape, expected] of [
    [
      'an unknown key',
      { annotations: { ...auto, 'edgeset.io/foo': '1' } },
      [/^edgeset does not know edgeset\.io\/foo: the/],
    ],
    [
      'a misspelled key that should have opted in',
      { annotations: { 'apps.openyurt.io/update-stratgy': 'auto' } },
      [/^edgeset does not know apps\.openyurt\.io\/update-stratgy \(do you mean edgeset\.io\/update-strategy\?\)$/],
    ],
    [
      'two names of one setting that differ',
      { annotations: { ...auto, 'edgeset.io/update-strategy': 'ota' } },
      [/are the same setting and have different values/],
    ],
    ['an update strategy that is not OnDelete', { annotations: auto, type: 'RollingUpdate' }, [/set it to OnDelete/]],
    [
      'a name that a DaemonRollout of an Advanced DaemonSet can have',
      { annotations: auto, name: 'app.apps.kruise.io' },
      [/ends in \.apps\.kruise\.io .*create it under another name$/],
    ],
    [
      'no such name of a DaemonSet that did not opt in',
      { annotations: { 'apps.openyurt.io/nodepool': 'x' }, name: 'app.apps.kruise.io' },
      [],
    ],
    [
      'an annotation that an Advanced DaemonSet has a field for',
      { annotations: { 'edgeset.io/partition': '1' }, apiVersion: 'apps.kruise.io/v1alpha1' },
      [/edgeset\.io\/partition has no effect on an Advanced DaemonSet/],
    ],
    [
      'nothing that is right',
      { annotations: { ...auto, 'edgeset.io/partition': '1', 'edgeset.io/update-strategy': 'auto' } },
      [],
    ],
    [
      'no key of OpenYurt, and no DaemonSet of others',
      { annotations: { 'apps.openyurt.io/nodepool': 'x' }, type: 'RollingUpdate' },
      [],
    ],
  ] as const satisfies readonly [string, Shape, readonly RegExp[]][])
    it(`warns of ${what}`, async () => {
      const found = await warnings(shape);
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [i, text] of expected.entries()) assert.match(found[i] ?? '', text);
    });
});
