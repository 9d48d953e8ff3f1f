import type { InvolvedObject } from './events.ts';

/** The object as Events refer to it. */
export const involvedObject = (object: {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; uid: string; namespace?: string; resourceVersion?: string };
}): InvolvedObject => ({
  apiVersion: object.apiVersion ?? '',
  kind: object.kind ?? '',
  metadata: object.metadata,
});
