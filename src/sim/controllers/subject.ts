import type { Subject } from './event-recorder.ts';

/** The object as Events refer to it. */
export const subjectOf = (object: {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; uid: string; namespace?: string; resourceVersion?: string };
}): Subject => ({
  apiVersion: object.apiVersion ?? '',
  kind: object.kind ?? '',
  metadata: object.metadata,
});
