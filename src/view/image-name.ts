/** An image for people: the program and its version. */
export interface ImageName {
  name: string;
  version: string;
}

/** Registries don't allow these characters; they could reverse or hide other text. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;
const SHORT_DIGEST = 12;

/**
 * Splits `registry:5000/team/app:1.2@sha256:...`. The registry's port is not a tag, and a digest is more specific than the
 * tag `latest`.
 */
export const readImage = (image: string): ImageName => {
  const [reference = '', digest] = image.replaceAll(UNSEEN, '\uFFFD').split('@', 2);
  const path = reference.slice(reference.lastIndexOf('/') + 1);
  const colon = path.indexOf(':');
  const name = colon < 0 ? path : path.slice(0, colon);
  const tag = colon < 0 ? '' : path.slice(colon + 1);
  const short = digest?.slice(digest.indexOf(':') + 1).slice(0, SHORT_DIGEST) ?? '';
  return { name, version: (tag === 'latest' && short) || tag || short || 'latest' };
};

export interface ImageChange {
  container: string;
  name: string;
  /** Empty for a container that is new. */
  from: string;
  /** Empty for a container that is removed. */
  to: string;
  changed: boolean;
}

interface ContainerImage {
  container: string;
  image: string;
}

/** One line per container: the running and the new image. `after` is null while unknown. */
export const compareImages = (
  before: readonly ContainerImage[],
  after: readonly ContainerImage[] | null,
): ImageChange[] => {
  const target = after ?? before;
  const names = new Set([...before, ...target].map(({ container }) => container));
  return [...names].map((container) => {
    const old = before.find((each) => each.container === container);
    const next = target.find((each) => each.container === container);
    const from = old && readImage(old.image);
    const to = next && readImage(next.image);
    const changed = old?.image !== next?.image;
    return {
      container,
      name: to?.name ?? from?.name ?? container,
      from: from?.version ?? '',
      to: to?.version ?? '',
      changed,
    };
  });
};
