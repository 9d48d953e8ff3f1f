const PREFIXES: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.',
  util: 'io.k8s.apimachinery.pkg.',
  api: 'io.k8s.apimachinery.pkg.',
};

/** The name under which a real server publishes a type of the table. */
export const publicName = (name: string): string => {
  const [head = ''] = name.split('.', 1);
  return `${PREFIXES[head] ?? 'io.k8s.api.'}${name}`;
};

/** The name of a custom resource's type: its group turned around, its version and its kind. */
export const customName = (group: string, version: string, kind: string): string =>
  `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
