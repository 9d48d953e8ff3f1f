import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Container } from 'kubernetes-types/core/v1.d.ts';
import { deployApp } from '../app.ts';
import type { Site } from '../product.ts';

interface Break {
  what: string;
  change: Partial<Container>;
  annotations?: Readonly<Record<string, string>>;
  cause: string;
  /** What the operator reads about the node. */
  says: RegExp;
}

const env = (name: string, value: string) => ({ env: [{ name, value }] });

const breaks: readonly Break[] = [
  {
    what: 'whose image does not exist',
    change: { image: 'registry.test/broken:missing' },
    cause: 'image-pull',
    says: /registry\.test\/broken:missing/,
  },
  { what: 'that crashes', change: env('CRASH', '1'), cause: 'crash-loop', says: /exit code 3|CrashLoopBackOff/ },
  {
    what: 'that never gets ready',
    change: env('NEVER_READY', '1'),
    annotations: { 'edgeset.io/progress-deadline-seconds': '8' },
    cause: 'deadline',
    says: /8 s/,
  },
  {
    what: 'that needs more memory than it may have',
    change: { ...env('EAT_MIB', '200'), resources: { limits: { memory: '64Mi' } } },
    cause: 'crash-loop',
    says: /OOMKilled/,
  },
];

/** Bad versions on two nodes: the first node stops the rollout, the second keeps the old version. */
export const broken = (site: Site, nodes: readonly string[]): void => {
  for (const { what, change, annotations, cause, says } of breaks) {
    it(`halts a version ${what}, says why, and takes it back`, async () => {
      const image = site.cluster.images.add('broken:v1');
      const app = await deployApp({
        cluster: site.cluster,
        name: `broken-${cause}`,
        nodes,
        image,
        annotations: { 'apps.openyurt.io/max-unavailable': '1', ...annotations },
      });
      await app.untilCondition('Complete');
      const before = new Map((await app.pods()).map(({ spec, metadata }) => [spec?.nodeName, metadata?.uid]));

      await app.change(change);
      await app.untilCondition('Halted', 90_000);
      const status = await app.rollout();
      const [failure] = status?.failing ?? [];
      assert.equal(status?.failing?.length, 1);
      const node = failure?.node ?? '';
      const explained = await site.product.plugin('explain', app.reference, '--node', node, '-n', app.namespace);
      assert.match(explained, new RegExp(`^${node}: failed \\(${cause}\\)`));
      assert.match(explained.replaceAll(/\s+/g, ' '), says);
      const other = nodes.find((name) => name !== node) ?? '';
      assert.equal((await app.podOn(other)).metadata?.uid, before.get(other));

      await site.product.plugin('undo', app.reference, '-n', app.namespace);
      await app.untilRunning(image);
      await app.untilCondition('Complete');
      assert.equal((await app.podOn(other)).metadata?.uid, before.get(other));
      await app.remove();
    });
  }
};
