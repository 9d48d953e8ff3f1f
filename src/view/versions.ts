import { readImage } from './image-name.ts';

/** One image of a template, before and after. */
export interface ImageStep {
  name: string;
  /** Empty for one that is new. */
  from: string;
  /** Empty for one that is removed. */
  to: string;
}

/** What a rollout changes, for people. */
export interface VersionStep {
  /** The version of the image that changed, before; empty if there was none, or several images changed. */
  from: string;
  /** After. */
  to: string;
  /** How many images changed; 0 if something other than an image did. */
  changed: number;
  images: readonly ImageStep[];
}

/** `registry:5000/team/app`: what stays the same from version to version. */
const repositoryOf = (image: string): string => {
  const [path = ''] = image.split('@', 1);
  const colon = path.lastIndexOf(':');
  return colon > path.lastIndexOf('/') ? path.slice(0, colon) : path;
};

/** Compares the images of two revisions. `before` is undefined for a first rollout. */
export const versionStep = (before: readonly string[] | undefined, after: readonly string[]): VersionStep => {
  // Two containers may run versions of one repository: what stays is no partner of what changes.
  const earlier = (before ?? []).filter((image) => !after.includes(image));
  const takeOld = (image: string): string | undefined => {
    const index = earlier.findIndex((old) => repositoryOf(old) === repositoryOf(image));
    return index < 0 ? undefined : earlier.splice(index, 1)[0];
  };
  const images = after.map((image): ImageStep & { same: boolean } => {
    const { name, version } = readImage(image);
    const same = before?.includes(image) ?? false;
    const old = same ? image : takeOld(image);
    return { name, from: old === undefined ? '' : readImage(old).version, to: version, same };
  });
  const removed = earlier.map((image) => {
    const { name, version } = readImage(image);
    return { name, from: version, to: '', same: false };
  });
  const all = [...images, ...removed];
  const changes = before === undefined ? [] : all.filter(({ same }) => !same);
  // An image moves to another registry with its version: one goes, and one of the same name comes.
  const [shown] = changes.length > 0 ? changes : all;
  // A version that stays tells nothing of what the rollout changes.
  const single = changes.length === 1 || (before === undefined && all.length === 1);
  return {
    from: single ? (shown?.from ?? '') : '',
    to: single ? (shown?.to ?? '') : '',
    changed: changes.length,
    images: all.map(({ name, from, to }) => ({ name, from, to })),
  };
};

/** `Version 2.1.0`; without one version that tells it, the revision. */
export const versionText = ({ to }: Pick<VersionStep, 'to'>): string =>
  to === '' ? 'The target revision' : `Version ${to}`;
