import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JSONSchemaProps } from 'kubernetes-types/apiextensions/v1.d.ts';
import { parse } from 'yaml';
import { advancedDaemonSetCrd } from '../../../src/kinds/advanced/index.ts';
import { isKubeError, type KubeClient } from '../../../src/kube/index.ts';
import { annotation } from '../../../src/words/index.ts';
import { type AdvancedObject, advancedDaemonSets } from '../advanced/api.ts';
import { type Block, blocksOf, readPage } from './page.ts';

const PAGE = 'docs/reference/advanced-daemonset.md';

type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The part in its place of the whole; what is empty there must be empty. */
const completed = (whole: unknown, part: unknown): unknown => {
  if (!isRecord(whole) || !isRecord(part) || Object.keys(part).length === 0) return part;
  const keys = new Set([...Object.keys(whole), ...Object.keys(part)]);
  return Object.fromEntries([...keys].map((key) => [key, key in part ? completed(whole[key], part[key]) : whole[key]]));
};

const LEFT_TO_KUBERNETES = new Set(['template', 'selector', 'metadata']);

/** Fields that the schema declares and that hold a value, by their names; of the template only that it is there. */
const fieldsOf = (schema: JSONSchemaProps): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    inner.properties && !LEFT_TO_KUBERNETES.has(name) ? fieldsOf(inner) : [name],
  );

/** Registers tests that hold the reference against the API server and the code. */
export const describeReference = (subject: () => { client: KubeClient; namespace: string }): void => {
  const text = readPage(PAGE);
  const blocks = blocksOf(text);
  const examples = blocks.flatMap((block, index): [Block, Block | undefined][] =>
    block.language === 'yaml' ? [[block, blocks[index + 1]]] : [],
  );
  const [[first] = []] = examples;
  assert.ok(first, `${PAGE} begins with a whole DaemonSet`);
  const whole: unknown = parse(first.text);

  for (const [block, next] of examples) {
    const refusal = next?.language === 'refused' ? next.text.trim() : undefined;
    it(`the example at ${PAGE}:${block.line} is ${refusal === undefined ? 'accepted' : 'refused as it says'}`, async () => {
      const { client, namespace } = subject();
      const { apiVersion, metadata, spec } = completed(whole, parse(block.text)) as AdvancedObject & {
        apiVersion: string;
      };
      const version = apiVersion === 'apps.kruise.io/v1alpha1' ? 'v1alpha1' : 'v1beta1';
      const object = { metadata: { ...metadata, namespace }, spec };
      const created = client.create(advancedDaemonSets(version), object, { dryRun: true });
      if (refusal === undefined) {
        const answer = await created;
        assert.deepEqual(completed(answer.spec, spec), answer.spec, 'what is written is what is stored');
        return;
      }
      await assert.rejects(created, (error: unknown) => {
        assert.ok(isKubeError(error, 'Invalid'), String(error));
        assert.ok(error.message.includes(refusal), `${error.message} does not say "${refusal}"`);
        return true;
      });
    });
  }

  it(`${PAGE} names every field of the schema and every annotation that is read`, () => {
    const { spec, status } = advancedDaemonSetCrd.spec.versions[0]?.schema?.openAPIV3Schema?.properties ?? {};
    const fields = [...fieldsOf(spec ?? {}), ...fieldsOf(status ?? {})];
    assert.ok(fields.length > 25, fields.join(' '));
    const absent = fields.filter((name) => !new RegExp(`[\`.]${name}\``).test(text));
    assert.deepEqual(absent, []);
    const annotations = Object.values(annotation).filter((name) => !text.includes(`\`${name}\``));
    assert.deepEqual(
      annotations.filter((name) => name !== annotation.rolledBackFrom),
      [],
    );
  });
};
