/** Of a schema of a custom resource, what its fields follow from. */
interface Schema {
  type?: string;
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  items?: unknown;
}

/** The paths of all fields below a schema that have no fields of their own; `closed` are not entered. */
export const fieldsOf = (schema: Schema, path: string, closed: ReadonlySet<string>): string[] => {
  if (closed.has(path)) return [path];
  const { properties, items } = schema;
  if (items && typeof items === 'object' && !Array.isArray(items)) {
    const one = items as Schema;
    return one.properties ? fieldsOf(one, `${path}[]`, closed) : [path];
  }
  if (!properties) return [path];
  const join = (name: string): string => (path === '' ? name : `${path}.${name}`);
  return Object.entries(properties).flatMap(([name, each]) => fieldsOf(each, join(name), closed));
};
