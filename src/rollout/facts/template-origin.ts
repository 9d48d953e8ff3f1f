import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { ManagedFieldsEntry, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { annotation, daemonRolloutLimits as limits } from '../../words/index.ts';
import { ownsField } from './managed-fields.ts';
import { shorten } from './pod-trouble.ts';
import { imagesOf } from './template-images.ts';

/** A client that changed a field, as `metadata.managedFields` names it. Kubernetes records no user there. */
export interface FieldOwner {
  manager: string;
  /** `Apply` or `Update`. */
  operation: string;
  /** RFC 3339. */
  time: string;
}

/** What is known about a template besides its revision, and about its rollout besides the policy. */
export interface TemplateOrigin {
  /** The first distinct images. */
  images: readonly string[];
  /** The client that last wrote fields of the template; undefined if no field of it has an owner. */
  changedBy: FieldOwner | undefined;
  /** The client that last wrote the field that pauses the rollout; absent if it has no owner. */
  pausedBy?: FieldOwner;
}

const TEMPLATE = ['spec', 'template'];
/** Of a native DaemonSet, and of an Advanced one. */
const PAUSED = [
  ['metadata', 'annotations', annotation.paused],
  ['spec', 'updateStrategy', 'rollingUpdate', 'paused'],
];

/** The last client that wrote a field at one of the paths. */
const lastOwner = (
  entries: readonly ManagedFieldsEntry[],
  ...paths: readonly (readonly string[])[]
): FieldOwner | undefined => {
  let last: FieldOwner | undefined;
  for (const entry of entries) {
    const { manager = '', operation = '', time = '', fieldsV1, subresource } = entry;
    // Times are whole seconds in UTC. An entry that somebody edited may lack one.
    if (manager === '' || subresource || time <= (last?.time ?? '')) continue;
    if (paths.some((path) => ownsField(fieldsV1, path)))
      last = { manager: shorten(manager, limits.fieldManager), operation: shorten(operation, limits.operation), time };
  }
  return last;
};

export const templateOrigin = (
  metadata: ObjectMeta | undefined,
  template: PodTemplateSpec | undefined,
): TemplateOrigin => {
  const { managedFields = [] } = metadata ?? {};
  const pausedBy = lastOwner(managedFields, ...PAUSED);
  return {
    images: template?.spec
      ? imagesOf(template.spec)
          .slice(0, limits.images)
          .map(({ image }) => shorten(image, limits.image))
      : [],
    changedBy: lastOwner(managedFields, TEMPLATE),
    ...(pausedBy && { pausedBy }),
  };
};
