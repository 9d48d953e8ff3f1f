/** The name by which a container runtime knows an image: with its registry, and its tag or digest. */
export const fullImageName = (image: string): string => {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  const path = isHost ? rest.join('/') : image;
  const host = isHost && first !== 'index.docker.io' ? first : 'docker.io';
  // With a digest, the runtime drops the tag.
  const [name = '', digest] = path.split('@');
  const colon = name.indexOf(':');
  const repository = colon < 0 ? name : name.slice(0, colon);
  const version = digest === undefined ? `:${colon < 0 ? 'latest' : name.slice(colon + 1)}` : `@${digest}`;
  return `${host}/${host === 'docker.io' && !path.includes('/') ? 'library/' : ''}${repository}${version}`;
};
