export interface Target {
  path: string;
  /** Of the path, without the empty one before the first slash. */
  segments: readonly string[];
  query: URLSearchParams;
}

/**
 * Reads a request-target as it was sent, before anything could normalize it. Undefined for all that a client of this
 * API has no use for: escapes, empty or dotted segments, backslashes, an absolute URL, bytes that are not printable.
 * Names on these paths are DNS names, so no honest path needs an escape.
 */
export const parseTarget = (raw: string, longest: number): Target | undefined => {
  if (raw.length > longest || !/^\/[!-~]*$/.test(raw)) return undefined;
  const at = raw.indexOf('?');
  const path = at < 0 ? raw : raw.slice(0, at);
  const search = at < 0 ? '' : raw.slice(at + 1);
  if (/[%\\#;<>"^`{|}]/.test(path) || /[\\#]/.test(search)) return undefined;
  const segments = path.slice(1).split('/');
  if (path !== '/' && segments.some((segment) => segment === '' || /^\.+$/.test(segment))) return undefined;
  return { path, segments, query: new URLSearchParams(search) };
};

export const isNamespace = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);

/** A DNS subdomain, as pods and DaemonSets may be named. */
export const isObjectName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((label) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(label));
