import type { Json } from '../json.ts';
import { apiVersionOf, type Kind, type Subresource } from '../registry/kind.ts';
import type { Registry } from '../registry/registry.ts';
import { reviews } from './reviews.ts';

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

const verbsOf = (kind: Kind): readonly string[] => {
  if (kind.custom) return CUSTOM_VERBS;
  return kind.group === '' && kind.plural === 'namespaces'
    ? ALL_VERBS.filter((verb) => verb !== 'deletecollection')
    : ALL_VERBS;
};

interface Listed {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly Subresource[];
}

const listedReviews: readonly Listed[] = reviews.map(({ group, plural, kind }) => ({
  group,
  version: 'v1',
  plural,
  singular: kind.toLowerCase(),
  kind,
  namespaced: false,
  verbs: ['create'],
  shortNames: [],
  categories: [],
  subresources: [],
}));

const everything = (registry: Registry): Listed[] => [
  ...registry.kinds.map((kind) => ({ ...kind, verbs: verbsOf(kind) })),
  ...listedReviews,
];

// The real server's group order, which decides what a short name means; custom groups follow.
const GROUPS = [
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'networking.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
];

export const isBuiltinGroup = (group: string): boolean => group === '' || GROUPS.includes(group);

const rank = (group: string): number => {
  const index = GROUPS.indexOf(group);
  return index < 0 ? GROUPS.length : index;
};

/** v2 before v1, v1 before v1beta1, v1beta1 before v1alpha1, everything else by name. */
const versionRank = (version: string): string => {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return `z${version}`;
  const [, major = '0', stage, minor = '0'] = match;
  const back = (text: string): string => String(1_000_000 - Number(text));
  return `${stage === undefined ? 'a' : stage === 'beta' ? 'b' : 'c'}${back(major)}${back(minor)}`;
};

interface Group {
  name: string;
  versions: { version: string; resources: Listed[] }[];
}

const groupsOf = (registry: Registry): Group[] => {
  const groups = Map.groupBy(everything(registry), ({ group }) => group);
  return [...groups]
    .map(([name, all]) => ({
      name,
      versions: [...Map.groupBy(all, ({ version }) => version)]
        .map(([version, resources]) => ({
          version,
          resources: resources.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
        }))
        .toSorted((a, b) => (versionRank(a.version) < versionRank(b.version) ? -1 : 1)),
    }))
    .toSorted((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
};

/** What kubectl also calls a resource. */
const aliasesOf = ({ shortNames, categories }: Listed): Json => ({
  ...(shortNames.length > 0 && { shortNames }),
  ...(categories.length > 0 && { categories }),
});

const aggregatedResource = (resource: Listed): Json => ({
  resource: resource.plural,
  responseKind: { group: '', version: '', kind: resource.kind },
  scope: resource.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: resource.singular,
  verbs: resource.verbs,
  ...aliasesOf(resource),
  ...(resource.subresources.length > 0 && {
    subresources: resource.subresources.map(({ name, verbs, kind }) => ({
      subresource: name,
      responseKind: kind ?? { group: '', version: '', kind: resource.kind },
      verbs,
    })),
  }),
});

/** `/api` (the core group) or `/apis` (all others) in one document. */
export const aggregated = (registry: Registry, state: boolean): Json => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: groupsOf(registry)
    .filter(({ name }) => (name === '') === state)
    .map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, resources }) => ({
        version,
        resources: resources.map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
});

const groupDocument = ({ name, versions }: Group): Json => {
  const all = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
};

export const groupList = (registry: Registry): Json => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupsOf(registry)
    .filter(({ name }) => name !== '')
    .map(groupDocument),
});

export const oneGroup = (registry: Registry, name: string): Json | undefined => {
  const group = groupsOf(registry).find((each) => each.name === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) };
};

const legacyResources = (resource: Listed): Json[] => [
  {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...aliasesOf(resource),
  },
  ...resource.subresources.map(({ name, verbs, kind }) => ({
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(kind && kind.group !== resource.group ? { group: kind.group, version: kind.version } : {}),
    kind: kind?.kind ?? resource.kind,
    verbs,
  })),
];

export const resourceList = (registry: Registry, group: string, version: string): Json | undefined => {
  const resources = groupsOf(registry)
    .find(({ name }) => name === group)
    ?.versions.find((each) => each.version === version)?.resources;
  return (
    resources && {
      kind: 'APIResourceList',
      ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: apiVersionOf({ group, version }),
      resources: resources.flatMap(legacyResources),
    }
  );
};
