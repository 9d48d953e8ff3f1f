import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { ManagedFieldsEntry, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { daemonRolloutLimits as limits } from '../../words/index.ts';
import { shorten } from './pod-trouble.ts';
import { imagesOf } from './template-images.ts';

/** A client that changed a template, as `metadata.managedFields` names it. Kubernetes records no user there. */
export interface FieldOwner {
  manager: string;
  /** `Apply` or `Update`. */
  operation: string;
  /** RFC 3339. */
  time: string;
}

/** What the history says about a template, besides its revision. */
export interface TemplateOrigin {
  /** The first distinct images. */
  images: readonly string[];
  /** The client that last wrote fields of the template; undefined if no field of it has an owner. */
  changedBy: FieldOwner | undefined;
}

const ownsTemplate = ({ fieldsV1, subresource }: ManagedFieldsEntry & { subresource?: string }): boolean => {
  const spec: unknown = (fieldsV1 as Readonly<Record<string, unknown>> | undefined)?.['f:spec'];
  return !subresource && typeof spec === 'object' && spec !== null && 'f:template' in spec;
};

const lastOwner = (entries: readonly ManagedFieldsEntry[]): FieldOwner | undefined => {
  let last: FieldOwner | undefined;
  for (const entry of entries) {
    const { manager = '', operation = '', time = '' } = entry;
    // Times are whole seconds in UTC. An entry that somebody edited may lack one.
    if (manager !== '' && time > (last?.time ?? '') && ownsTemplate(entry))
      last = { manager: shorten(manager, limits.fieldManager), operation: shorten(operation, limits.operation), time };
  }
  return last;
};

export const templateOrigin = (
  metadata: ObjectMeta | undefined,
  template: PodTemplateSpec | undefined,
): TemplateOrigin => ({
  images: template?.spec
    ? imagesOf(template.spec)
        .slice(0, limits.images)
        .map(({ image }) => shorten(image, limits.image))
    : [],
  changedBy: lastOwner(metadata?.managedFields ?? []),
});
