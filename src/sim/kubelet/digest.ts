import { hash as digestOf } from 'node:crypto';

const sha256 = (text: string): string => digestOf('sha256', text, 'hex');

const images = new Map<string, string>();

/** `app:v2.is-v1` is another name of `app:v1`. */
const realName = (image: string): string => image.replace(/:[^:/]*\.is-/, ':');

/** What a runtime would call this image: always the same for the same name. */
export const imageId = (image: string): string => {
  let id = images.get(image);
  if (id === undefined) {
    id = `sha256:${sha256(realName(image))}`;
    images.set(image, id);
  }
  return id;
};

export const containerId = (podUid: string, container: string, restarts: number): string =>
  `containerd://${sha256(`${podUid}/${container}/${restarts}`)}`;

/** A number in [0, 1) that is the pod's own for this purpose, whatever happened before. */
export const podJitter = (podUid: string, purpose: string): number => {
  let hash = 0x811c9dc5;
  for (const text of [podUid, purpose])
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // The last characters of a UID differ most, and move only the low bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
};
