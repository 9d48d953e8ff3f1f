import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type KubeError, podTemplates } from '../../kube/index.ts';

export type DefaultedTemplate = { ok: true; template: PodTemplateSpec } | { ok: false; message: string };

/** Of an object that is never stored. */
const NAME = 'edgeset-template-proof';

// Kubernetes names a template's labels and annotations without the metadata that they are in.
const ourField = (field: string): string =>
  field.replace(/^template\.(labels|annotations)\b/, 'template.metadata.$1').replace(/^template\b/, 'spec.template');

const ofCauses = (error: KubeError): string[] => [
  ...new Set(
    (error.details?.causes ?? []).map(({ field, message }) =>
      field === undefined || field === '' ? message : `${ourField(field)}: ${message}`,
    ),
  ),
];

/** In the words of the API server; what it cannot even read it tells of in one sentence, with the path in it. */
const messageOf = (error: KubeError): string => {
  const causes = ofCauses(error);
  if (causes.length > 0) return causes.join('; ');
  const said = error.message.replace(/^[A-Z]+ \/\S+: /, '');
  return `spec.template: ${said.replaceAll(/\btemplate\.(?=spec|metadata)/g, 'spec.template.')}`;
};

/** Refused for what it is. Without rights the server does not look at the object, and does not name it. */
const isRefusal = (error: unknown): error is KubeError =>
  isKubeError(error, 'Invalid', 'BadRequest') || (isKubeError(error, 'Forbidden') && error.details?.name !== undefined);

/**
 * The template with everything that the API server fills in for pods, proved by it: a PodTemplate that is created as a
 * dry run. `message` names the fields at fault as they are in a DaemonSet, and what they must be. Whatever else goes
 * wrong, such as missing rights, is thrown.
 */
export const defaultedTemplate = async (
  client: KubeClient,
  namespace: string,
  template: PodTemplateSpec,
  { signal }: { signal?: AbortSignal } = {},
): Promise<DefaultedTemplate> => {
  try {
    const proved = await client.create(
      podTemplates,
      { metadata: { name: NAME, namespace }, template },
      { dryRun: true, ...(signal && { signal }) },
    );
    return { ok: true, template: proved.template ?? {} };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { ok: false, message: messageOf(error) };
  }
};
