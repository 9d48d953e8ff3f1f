/** A parsed path of the resource API. */
export interface Route {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Parses `/api/v1/...` and `/apis/group/version/...`; undefined for other paths. */
export const parseRoute = (path: string): Route | undefined => {
  let steps = path.split('/').slice(1);
  try {
    if (path.includes('%')) steps = steps.map(decodeURIComponent);
  } catch {
    return undefined;
  }
  if (steps.at(-1) === '') steps.pop();
  const core = steps[0] === 'api';
  if (!core && steps[0] !== 'apis') return undefined;
  const [group = '', version = '', ...rest] = core ? ['', ...steps.slice(1)] : steps.slice(1);
  if (rest.length === 0) return undefined;
  // `/namespaces/x` and `/namespaces/x/status` are the namespace itself; deeper paths are objects in it.
  const scoped = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '');
  const namespace = scoped ? rest[1] : undefined;
  const [plural = '', name, subresource, ...more] = scoped ? rest.slice(2) : rest;
  if (more.length > 0) return undefined;
  return { group, version, namespace, plural, name, subresource };
};
