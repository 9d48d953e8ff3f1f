import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

/** How each CRD that ships is named and labelled; Helm is to leave it, since with it all its objects would go. */
export const crdMetadata = ({ plural, group }: { plural: string; group: string }) =>
  ({
    name: `${plural}.${group}`,
    labels: {
      'app.kubernetes.io/name': 'edgeset',
      'app.kubernetes.io/part-of': 'edgeset',
      'app.kubernetes.io/component': 'crd',
    },
    annotations: { 'helm.sh/resource-policy': 'keep' },
  }) satisfies ObjectMeta;
