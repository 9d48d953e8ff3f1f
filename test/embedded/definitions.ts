// Converts the OpenAPI document of a real API server to the compact type table of the embedded one:
//   kubectl get --raw /openapi/v2 |
//     node test/embedded/definitions.ts $(go env GOMODCACHE)/k8s.io v0.34.4 > embedded/apiserver/schema/definitions.txt
// The table holds names, types, list semantics and the numbers that fields have in protobuf, which kubectl's typed
// commands send, without documentation.

import { globSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  default?: unknown;
  enum?: string[];
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
};

/** The kinds that the embedded API server serves; others are left out. */
const SERVED = [
  'v1/Pod v1/Node v1/Namespace v1/ServiceAccount v1/ConfigMap v1/Secret v1/Service v1/Event v1/Binding v1/PodTemplate',
  'apps/v1/DaemonSet apps/v1/ControllerRevision apps/v1/Deployment apps/v1/ReplicaSet',
  'coordination.k8s.io/v1/Lease events.k8s.io/v1/Event policy/v1/PodDisruptionBudget policy/v1/Eviction',
  'rbac.authorization.k8s.io/v1/Role rbac.authorization.k8s.io/v1/RoleBinding',
  'rbac.authorization.k8s.io/v1/ClusterRole rbac.authorization.k8s.io/v1/ClusterRoleBinding',
  'networking.k8s.io/v1/NetworkPolicy scheduling.k8s.io/v1/PriorityClass',
  'apiextensions.k8s.io/v1/CustomResourceDefinition',
  'authentication.k8s.io/v1/TokenReview authentication.k8s.io/v1/SelfSubjectReview authentication.k8s.io/v1/TokenRequest',
  'authorization.k8s.io/v1/SelfSubjectAccessReview authorization.k8s.io/v1/SelfSubjectRulesReview',
  'authorization.k8s.io/v1/SubjectAccessReview',
].flatMap((line) => line.split(' '));

const shortName = (name: string): string =>
  name
    .replace(/^io\.k8s\.api\./, '')
    .replace(/^io\.k8s\.apimachinery\.pkg\.apis\./, '')
    .replace(/^io\.k8s\.apiextensions-apiserver\.pkg\.apis\./, '')
    .replace(/^io\.k8s\.apimachinery\.pkg\./, '');

const leaves: Record<string, string> = {
  'meta.v1.Time': 'time',
  'meta.v1.MicroTime': 'microTime',
  'util.intstr.IntOrString': 'intOrString',
  'api.resource.Quantity': 'quantity',
  'meta.v1.FieldsV1': 'any',
  'runtime.RawExtension': 'any',
  'apiextensions.v1.JSON': 'json',
};

const refOf = (schema: Schema): string | undefined =>
  schema.$ref === undefined ? undefined : shortName(schema.$ref.slice('#/definitions/'.length));

const typeOf = (schema: Schema): string => {
  const ref = refOf(schema);
  if (ref !== undefined) return leaves[ref] ?? ref;
  if (schema.type === 'array') return `[]${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object') return schema.additionalProperties ? `{}${typeOf(schema.additionalProperties)}` : 'any';
  if (schema.type === 'integer') return schema.format === 'int64' ? 'int64' : 'int32';
  if (schema.type === 'string' && schema.format === 'byte') return 'bytes';
  return schema.type ?? 'json';
};

/** The fields of a protobuf message: number and type by name. */
type Message = Map<string, { number: string; type: string }>;

/** The messages of the generated.proto files in a folder, by short name. */
const readMessages = (folder: string, version: string): Map<string, Message> => {
  const messages = new Map<string, Message>();
  const files = globSync(`{api,apimachinery,apiextensions-apiserver}@${version}/**/generated.proto`, { cwd: folder });
  for (const file of files) {
    const source = readFileSync(`${folder}/${file}`, 'utf8');
    const scope = /^package (.+);$/m.exec(source)?.[1] ?? '';
    const full = (type: string): string =>
      shortName(`io.k8s.${(type.startsWith('.') ? type.slice(1) : `${scope}.${type}`).replace(/^k8s\.io\./, '')}`);
    for (const [, name = '', body = ''] of source.matchAll(/^message (\w+) \{$(.*?)^\}$/gms)) {
      const fields: Message = new Map();
      for (const [, type = '', field = '', number = ''] of body.matchAll(
        /^ {2}(?:optional |repeated )?([\w.]+|map<.+?>) (\w+) = (\d+);$/gm,
      ))
        fields.set(field, { number, type: full(type) });
      messages.set(full(name), fields);
    }
  }
  return messages;
};

/** The number of a JSON field; `2.5` for field 5 of the embedded message in field 2. */
const numberOf = (messages: Map<string, Message>, message: string, field: string): string | undefined => {
  const fields = messages.get(message);
  const own = fields?.get(field);
  if (own) return own.number;
  // Embedded structs are protobuf messages of their own, named after their type.
  for (const [name, { number, type }] of fields ?? []) {
    if (
      type.split('.').at(-1)?.toLowerCase() !== name.toLowerCase() &&
      name !== 'handler' &&
      name !== 'ephemeralContainerCommon'
    )
      continue;
    const inner = messages.get(type)?.get(field);
    if (inner) return `${number}.${inner.number}`;
  }
  return undefined;
};

const fieldLine = (name: string, schema: Schema, required: boolean, number: string | undefined): string => {
  const notes = [
    number && `#=${number}`,
    schema['x-kubernetes-patch-merge-key'] && `key=${schema['x-kubernetes-patch-merge-key']}`,
    schema['x-kubernetes-patch-strategy'] && `patch=${schema['x-kubernetes-patch-strategy']}`,
    schema['x-kubernetes-list-type'] && `list=${schema['x-kubernetes-list-type']}`,
    schema['x-kubernetes-list-map-keys'] && `keys=${schema['x-kubernetes-list-map-keys'].join(',')}`,
    schema['x-kubernetes-map-type'] && `map=${schema['x-kubernetes-map-type']}`,
    // Empty objects and zeros are Go's zero values and carry no information.
    ['string', 'number', 'boolean'].includes(typeof schema.default) && schema.default
      ? `default=${JSON.stringify(schema.default)}`
      : '',
  ].filter(Boolean);
  return [` ${name}${required ? '!' : ''}`, typeOf(schema), ...notes].join(' ');
};

/** Converts an OpenAPI v2 document to the table. */
export const definitionsOf = (document: unknown, messages: Map<string, Message>): string => {
  const { definitions } = document as { definitions: Record<string, Schema> };
  const kindsOf = (schema: Schema): string[] =>
    (schema['x-kubernetes-group-version-kind'] ?? []).map(({ group, version, kind }) =>
      [group, version, kind].filter(Boolean).join('/'),
    );
  const byName = new Map(Object.entries(definitions).map(([name, schema]) => [shortName(name), schema]));
  const wanted = new Set<string>();
  const visit = (name: string): void => {
    if (wanted.has(name) || leaves[name] !== undefined) return;
    const schema = byName.get(name);
    if (!schema) throw new Error(`the document does not define ${name}`);
    wanted.add(name);
    const walk = (each: Schema): void => {
      const ref = refOf(each);
      if (ref !== undefined) visit(ref);
      for (const part of [each.items, each.additionalProperties]) if (part) walk(part);
      for (const part of Object.values(each.properties ?? {})) walk(part);
    };
    walk(schema);
  };
  for (const kind of SERVED) {
    const found = [...byName].find(([, schema]) => kindsOf(schema).includes(kind));
    if (!found) throw new Error(`the document does not define ${kind}`);
    visit(found[0]);
  }
  visit('meta.v1.DeleteOptions');
  visit('meta.v1.Status');
  return [...wanted]
    .toSorted()
    .map((name) => {
      const schema = byName.get(name) ?? {};
      const kinds = kindsOf(schema).length > 1 ? [] : kindsOf(schema);
      const notes = schema['x-kubernetes-map-type'] ? [`map=${schema['x-kubernetes-map-type']}`] : [];
      const own = schema.properties ? [] : [`is=${typeOf(schema)}`];
      const fields = Object.entries(schema.properties ?? {}).map(([field, each]) =>
        fieldLine(field, each, schema.required?.includes(field) ?? false, numberOf(messages, name, field)),
      );
      return `${[[name, ...kinds.map((kind) => `kind=${kind}`), ...notes, ...own].join(' '), ...fields].join('\n')}\n`;
    })
    .join('');
};

if (import.meta.main) {
  const [folder = '', version = ''] = process.argv.slice(2);
  process.stdout.write(definitionsOf(JSON.parse(await text(process.stdin)), readMessages(folder, version)));
}
