import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

export interface Owner {
  uid: string;
  kind: string;
  name: string;
  apiVersion: string;
}

/** The object that controls this one: of several owners, the one whose reference says `controller: true`. */
export const controllerOf = (object: { metadata?: ObjectMeta }): Owner | undefined => {
  const reference = object.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (!reference) return undefined;
  const { uid, kind, name, apiVersion } = reference;
  return { uid, kind, name, apiVersion };
};
