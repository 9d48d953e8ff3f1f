import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type KubeError, podTemplates, serverText } from '../../kube/index.ts';

export type DefaultedTemplate = { ok: true; template: PodTemplateSpec } | { ok: false; message: string };

/** Name of the PodTemplate, which is never stored. */
const NAME = 'edgeset-template-proof';

// The API server omits `metadata` in the paths of a template's labels and annotations.
const daemonSetField = (field: string): string =>
  field.replace(/^template\.(labels|annotations)\b/, 'template.metadata.$1').replace(/^template\b/, 'spec.template');

const messagesOf = (error: KubeError): string[] => [
  ...new Set(
    (error.details?.causes ?? []).map(({ field, message }) =>
      field === undefined || field === '' ? message : `${daemonSetField(field)}: ${message}`,
    ),
  ),
];

/** The API server's message. If it can't decode the template, the message contains the path. */
const messageOf = (error: KubeError): string => {
  const causes = messagesOf(error);
  if (causes.length > 0) return causes.join('; ');
  const message = serverText(error.message);
  return `spec.template: ${message.replaceAll(/\btemplate\.(?=spec|metadata)/g, 'spec.template.')}`;
};

/** Is the template itself refused? An error for missing permissions names no object. */
const isRefusal = (error: unknown): error is KubeError =>
  isKubeError(error, 'Invalid', 'BadRequest') || (isKubeError(error, 'Forbidden') && error.details?.name !== undefined);

/**
 * Validates the template and applies the API server's defaults, by a dry run that creates a PodTemplate. `message` names the
 * invalid fields by their path in a DaemonSet. Other errors, such as missing permissions, are thrown.
 */
export const defaultedTemplate = async (
  client: KubeClient,
  namespace: string,
  template: PodTemplateSpec,
  { signal }: { signal?: AbortSignal } = {},
): Promise<DefaultedTemplate> => {
  try {
    const created = await client.create(
      podTemplates,
      { metadata: { name: NAME, namespace }, template },
      { dryRun: true, ...(signal && { signal }) },
    );
    return { ok: true, template: created.template ?? {} };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { ok: false, message: messageOf(error) };
  }
};
