import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeClient, KubeError, type KubeErrorCode, type RefusalDetails } from '../../../kube/index.ts';
import { defaultedTemplate } from './defaulted-template.ts';

const answering = (code: KubeErrorCode, message: string, details?: RefusalDetails) => {
  const error = new KubeError(code, `POST /api/v1/namespaces/default/podtemplates?dryRun=All: ${message}`, { details });
  const client = { create: () => Promise.reject(error) } as unknown as KubeClient;
  return defaultedTemplate(client, 'default', {});
};

// Against API servers: test/conformance/advanced/templates.ts.
describe('the message for an invalid template', () => {
  it('each cause names the field of the DaemonSet once', async () => {
    const image = { field: 'template.spec.containers[0].image', message: 'Required value' };
    const label = { field: 'template.labels', message: 'Invalid value: "a b": must be a name' };
    const details = { name: 'x', causes: [image, label, image] };
    assert.deepEqual(await answering('Invalid', 'both', details), {
      ok: false,
      message:
        'spec.template.spec.containers[0].image: Required value; ' +
        'spec.template.metadata.labels: Invalid value: "a b": must be a name',
    });
  });
  it('a decoding error is the server’s message with our path', async () => {
    const said =
      'PodTemplate in version "v1" cannot be handled: cannot unmarshal string into PodSpec.template.spec.containers';
    assert.deepEqual(await answering('BadRequest', said), {
      ok: false,
      message: `spec.template: ${said.replace('PodSpec.template', 'PodSpec.spec.template')}`,
    });
  });
  it('an admission policy makes the template invalid; missing permissions do not', async () => {
    const forbidden = { name: 'x', causes: [{ message: 'policy says no' }] };
    assert.deepEqual(await answering('Forbidden', 'said no', forbidden), { ok: false, message: 'policy says no' });
    await assert.rejects(answering('Forbidden', 'User "x" cannot create', { causes: [] }), { code: 'Forbidden' });
  });
  for (const code of ['Timeout', 'InternalError', 'Transport', 'NotFound', 'AlreadyExists'] as const)
    it(`${code} is thrown`, () => assert.rejects(answering(code, 'no'), { code }));
});
