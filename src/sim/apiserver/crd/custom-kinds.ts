import { selectableCustomFields } from '../registry/fields.ts';
import type { Kind, Subresource } from '../registry/kind.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../value/index.ts';
import { customStrategy } from './strategy.ts';

const texts = (value: unknown): string[] => arrayOf(value).map(textOf);

const status: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };

/** The object in another version: with conversion strategy None only its apiVersion differs. */
const inVersion = (apiVersion: string): ((object: Json) => Json) => {
  const views = new WeakMap<Json, Json>();
  return (object) => {
    if (object.apiVersion === apiVersion) return object;
    let view = views.get(object);
    if (!view) {
      view = { ...object, apiVersion };
      views.set(object, view);
    }
    return view;
  };
};

/** What a CustomResourceDefinition makes the server serve: one kind for each served version. */
export const servedKinds = (definition: Json): Kind[] => {
  const spec = recordOf(definition.spec);
  const group = textOf(spec.group);
  const names = recordOf(spec.names);
  const plural = textOf(names.plural);
  const kind = textOf(names.kind);
  const versions = arrayOf(spec.versions).map(recordOf);
  const storage = textOf(versions.find((version) => version.storage === true)?.name);
  return versions
    .filter((version) => version.served === true)
    .map((version): Kind => {
      const name = textOf(version.name);
      const schema = recordOf(at(version, 'schema', 'openAPIV3Schema'));
      const hasStatus = at(version, 'subresources', 'status') !== undefined;
      const paths = arrayOf(version.selectableFields).map((each) => textOf(at(each, 'jsonPath')).replace(/^\./, ''));
      return {
        group,
        version: name,
        plural,
        kind,
        namespaced: spec.scope === 'Namespaced',
        singular: textOf(names.singular),
        listKind: textOf(names.listKind),
        shortNames: texts(names.shortNames),
        categories: texts(names.categories),
        subresources: hasStatus ? [status] : [],
        collection: `${plural}.${group}`,
        fields: selectableCustomFields(...paths),
        strategy: customStrategy(schema, hasStatus),
        ...(name === storage
          ? {}
          : { fromStorageVersion: inVersion(`${group}/${name}`), toStorageVersion: inVersion(`${group}/${storage}`) }),
        custom: {
          schema,
          columns: arrayOf(version.additionalPrinterColumns).map(recordOf),
          crdUid: textOf(at(definition, 'metadata', 'uid')),
        },
      };
    });
};
