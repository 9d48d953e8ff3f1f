import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, type KubeError, podTemplates, serverText } from '../../../kube/index.ts';

export type DefaultedTemplate =
  /** `unknown`: the API server's message about fields that it does not know and has dropped. */
  | { ok: true; template: PodTemplateSpec; unknown?: string }
  /** `template`: what the API server accepts of it if fields that it does not know are dropped. */
  | { ok: false; message: string; template?: PodTemplateSpec };

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
 * invalid fields by their path in a DaemonSet. Fields that the API server does not know are invalid, as they are to kubectl in
 * a native DaemonSet: the schema of Advanced DaemonSets keeps whatever is in a template. Other errors, such as missing
 * permissions, are thrown.
 */
export const defaultedTemplate = async (
  client: KubeClient,
  namespace: string,
  template: PodTemplateSpec,
  { signal }: { signal?: AbortSignal } = {},
): Promise<DefaultedTemplate> => {
  const dryRun = async (strict: boolean): Promise<DefaultedTemplate> => {
    try {
      const created = await client.create(
        podTemplates,
        { metadata: { name: NAME, namespace }, template },
        { dryRun: true, ...(strict && { fieldValidation: 'Strict' }), ...(signal && { signal }) },
      );
      return { ok: true, template: created.template ?? {} };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { ok: false, message: messageOf(error) };
    }
  };
  const strict = await dryRun(true);
  if (strict.ok) return strict;
  // If it is not accepted without those fields either, they are not what is wrong first.
  const lenient = await dryRun(false);
  return lenient.ok ? { ...strict, template: lenient.template } : lenient;
};
