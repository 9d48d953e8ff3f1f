import { type KubeClient, KubeError, type KubeObject, type Resource } from '../../kube/index.ts';

export interface StubClient extends Pick<KubeClient, 'get' | 'create'> {
  /** By plural, namespace and name. */
  readonly objects: Map<string, KubeObject>;
  /** What is asked, as `get secrets shop/token`. */
  readonly calls: string[];
  /** Plurals whose CRD is not installed. */
  readonly absent: Set<string>;
  /** Plurals that the manager has no right to. */
  readonly forbidden: Set<string>;
}

/** A client of objects in memory. */
export const createStubClient = (...initial: [plural: string, object: KubeObject][]): StubClient => {
  const keyOf = (plural: string, namespace: string | undefined, name: string | undefined): string =>
    [plural, namespace, name].filter(Boolean).join('/');
  const objects = new Map(
    initial.map(([plural, object]) => [keyOf(plural, object.metadata?.namespace, object.metadata?.name), object]),
  );
  const calls: string[] = [];
  const absent = new Set<string>();
  const forbidden = new Set<string>();
  const admit = (verb: string, { plural }: Resource, key: string, name: string): void => {
    calls.push(`${verb} ${key}`);
    if (forbidden.has(plural)) throw new KubeError('Forbidden', `cannot ${verb} ${plural}`, { status: 403 });
    if (absent.has(plural)) throw new KubeError('NotFound', 'the page does not exist', { status: 404 });
    if (verb === 'get' && !objects.has(key))
      throw new KubeError('NotFound', `${key} not found`, { status: 404, details: { name } });
  };
  return {
    objects,
    calls,
    absent,
    forbidden,
    get: async <T extends KubeObject>(
      resource: Resource<T>,
      { namespace, name }: { namespace?: string; name: string },
    ) => {
      const key = keyOf(resource.plural, namespace, name);
      admit('get', resource, key, name);
      return objects.get(key) as T;
    },
    create: async <T extends KubeObject>(resource: Resource<T>, object: T) => {
      const { namespace, name = '' } = object.metadata ?? {};
      const key = keyOf(resource.plural, namespace, name);
      admit('create', resource, key, name);
      if (objects.has(key)) throw new KubeError('AlreadyExists', `${key} exists`, { status: 409 });
      objects.set(key, object);
      return object;
    },
  };
};

export const secretOf = (name: string, texts: Record<string, string>, namespace = 'shop'): [string, KubeObject] => [
  'secrets',
  {
    metadata: { name, namespace },
    data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  } as KubeObject,
];
