import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { defaultedTemplate } from '../../../src/kinds/advanced/revisions/index.ts';
import { controllerRevisions, daemonSets, isKubeError, type KubeClient } from '../../../src/kube/index.ts';
import { controllerOf, recordedTemplate, templateDigest } from '../../../src/rollout/index.ts';
import { templateLabels, templateSpecs } from './template-specs.ts';

export interface TemplateContext {
  client: KubeClient;
  /** Of a cluster whose native DaemonSet controller runs, and that has no nodes. */
  namespace: string;
  /** Resolves with what the probe yields once that is something. */
  until: <T>(what: string, probe: () => Promise<T | undefined>) => Promise<T>;
}

const templateOf = (spec: object): PodTemplateSpec =>
  ({ metadata: { labels: templateLabels }, spec }) as PodTemplateSpec;

/** The template in the revision that the native controller writes; undefined when DaemonSets may not have it. */
const nativeTemplate = async (
  { client, namespace, until }: TemplateContext,
  template: PodTemplateSpec,
): Promise<object | undefined> => {
  const selector = { matchLabels: templateLabels };
  const daemonSet: DaemonSet = { metadata: { generateName: 'native-', namespace }, spec: { selector, template } };
  let uid: string | undefined;
  let name = '';
  try {
    const { metadata } = await client.create(daemonSets, daemonSet);
    uid = metadata?.uid;
    name = metadata?.name ?? '';
  } catch (error) {
    if (isKubeError(error, 'Invalid')) return undefined;
    throw error;
  }
  const revision = await until(`${name} has a revision`, async () =>
    (await client.list(controllerRevisions, { namespace })).items.find((each) => controllerOf(each)?.uid === uid),
  );
  await client.delete(daemonSets, { namespace, name });
  return recordedTemplate(revision);
};

/** Registers tests of the proof of templates. */
export const describeTemplates = (subject: () => TemplateContext): void => {
  for (const [index, spec] of templateSpecs.entries())
    it(`template ${index} is refused with its fields named, or is what the native controller records: ${JSON.stringify(spec).slice(0, 80)}`, async () => {
      const { client, namespace } = subject();
      const first = await defaultedTemplate(client, namespace, templateOf(spec));
      if (!first.ok) {
        assert.match(first.message, /\bspec\.template\.spec\./);
        assert.doesNotMatch(first.message, /(?<!spec\.)template\./);
        return;
      }
      const again = await defaultedTemplate(client, namespace, first.template);
      assert.deepEqual(again, first, 'what is filled in stays as it is');
      const native = await nativeTemplate(subject(), templateOf(spec));
      if (native) assert.equal(templateDigest(native), templateDigest(first.template));
    });

  it('everything that is left out is filled in', async () => {
    const { client, namespace } = subject();
    const spec = { containers: [{ name: 'c', image: 'x', readinessProbe: { httpGet: { port: 80 } } }] };
    const common = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' };
    assert.deepEqual(await defaultedTemplate(client, namespace, templateOf(spec)), {
      ok: true,
      template: {
        metadata: { labels: templateLabels },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'x',
              imagePullPolicy: 'Always',
              resources: {},
              readinessProbe: {
                httpGet: { port: 80, path: '/', scheme: 'HTTP' },
                timeoutSeconds: 1,
                periodSeconds: 10,
                successThreshold: 1,
                failureThreshold: 3,
              },
              ...common,
            },
          ],
          dnsPolicy: 'ClusterFirst',
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          securityContext: {},
          terminationGracePeriodSeconds: 30,
        },
      },
    });
  });

  it('labels and annotations of a template are named as a DaemonSet has them', async () => {
    const { client, namespace } = subject();
    const template = {
      metadata: { labels: { 'bad key': 'x' }, annotations: { 'bad key': 'x' } },
      spec: { containers: [] },
    };
    const answer = await defaultedTemplate(client, namespace, template);
    assert.ok(!answer.ok);
    for (const field of ['metadata.labels', 'metadata.annotations', 'spec.containers'])
      assert.ok(answer.message.includes(`spec.template.${field}: `), answer.message);
  });

  it('a namespace that is not there is no fault of the template', async () => {
    const { client } = subject();
    await assert.rejects(defaultedTemplate(client, 'nowhere', templateOf({})), (error) =>
      isKubeError(error, 'NotFound'),
    );
  });

  it('ends when it is told to', async () => {
    const { client, namespace } = subject();
    const signal = AbortSignal.abort(new Error('no more'));
    await assert.rejects(defaultedTemplate(client, namespace, templateOf({}), { signal }), /no more/);
  });
};
