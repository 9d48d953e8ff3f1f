import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from 'kubernetes-types/apiextensions/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { daemonRolloutApi } from '../daemon-rollout.ts';
import type { Schema } from './schema.ts';

/** Metadata of each CRD that ships. Helm keeps CRDs on uninstall, since deleting one deletes all its objects. */
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

type Column = CustomResourceColumnDefinition;

export const column = (name: string, jsonPath: string, description: string): Column => ({
  name,
  type: 'string',
  jsonPath,
  description,
});

export const countColumn = (name: string, jsonPath: string, description: string): Column => ({
  ...column(name, jsonPath, description),
  type: 'integer',
});

export const ageColumn = (description: string): Column => ({
  ...column('Age', '.metadata.creationTimestamp', description),
  type: 'date',
});

/** Shown by `kubectl get -o wide` only. */
export const wide = (definition: Column): Column => ({ ...definition, priority: 1 });

interface Definition<Properties> {
  scope: 'Namespaced' | 'Cluster';
  names: Pick<CustomResourceDefinitionNames, 'kind' | 'plural'> & { singular: string; shortName: string };
  description: string;
  columns: Column[];
  /** `spec`, `status`, or both. */
  properties: Properties;
  required?: string[];
}

/** A CRD of our group, as `kubectl apply` takes it. */
export const defineCrd = <Properties extends Record<string, Schema>>({
  scope,
  names,
  description,
  columns,
  properties,
  required,
}: Definition<Properties>) => {
  const { group, version, category } = daemonRolloutApi;
  const { kind, plural, singular, shortName } = names;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: crdMetadata({ plural, group }),
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName], categories: [category] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(properties.status && { subresources: { status: {} } }),
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              properties: {
                apiVersion: { type: 'string', description: 'Version of the schema that this object is written in.' },
                kind: { type: 'string', description: 'What this object is.' },
                // The API server has its own description, and refuses one here.
                metadata: { type: 'object' },
                ...properties,
              },
              ...(required && { required }),
            },
          },
        },
      ],
    },
  } satisfies CustomResourceDefinition;
};
