const DEFAULT_HOST = 'docker.io';

/** Splits off the registry's host as container runtimes do; a first part without `.`, `:` or capitals is no host. */
const splitHost = (name: string): { host: string; path: string } => {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  if (!/[.:]/.test(first) && first !== 'localhost' && first === first.toLowerCase())
    return { host: DEFAULT_HOST, path: name };
  return { host: first === `index.${DEFAULT_HOST}` ? DEFAULT_HOST : first, path: name.slice(slash + 1) };
};

/** A name without its digest and its tag; a colon before the last slash is a port's. */
const splitTag = (image: string): { name: string; versioned: boolean } => {
  const at = image.indexOf('@');
  const undigested = at < 0 ? image : image.slice(0, at);
  const colon = undigested.lastIndexOf(':');
  const tagged = colon > undigested.lastIndexOf('/');
  return { name: tagged ? undigested.slice(0, colon) : undigested, versioned: tagged || at >= 0 };
};

/** `registry/path` without tag and digest, by which pull secrets are found: `docker.io/library/busybox` for `busybox`. */
export const repositoryOf = (image: string): string => {
  const { host, path } = splitHost(splitTag(image).name);
  return host === DEFAULT_HOST && !path.includes('/') ? `${host}/library/${path}` : `${host}/${path}`;
};

/** The image as the kubelet asks the runtime for it: short names stay short, only the tag is made explicit. */
export const withDefaultTag = (image: string): string => (splitTag(image).versioned ? image : `${image}:latest`);

/** Whether a new version may hide behind the same name, for which Kubernetes' default is to pull always. */
export const isLatest = (image: string): boolean => {
  const full = withDefaultTag(image);
  return full.endsWith(':latest') && !full.includes('@');
};
