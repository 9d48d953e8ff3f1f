// Images as npm run build:images writes them, but compressed in a second and not in a minute.

import { homedir } from 'node:os';
import path from 'node:path';
import { buildImagePrograms } from '../../scripts/bundle.ts';
import { type Component, components } from '../../scripts/images/components.ts';
import { baseLayer, componentImage } from '../../scripts/images/image.ts';
import type { OciImage } from '../../scripts/images/oci.ts';

const root = path.join(import.meta.dirname, '../..');
export const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'edgeset/images');

export const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** The packages come from Debian's archives, and dpkg unpacks them. */
export const whyNoImages: string | false = process.platform !== 'linux' && 'images are built on Linux only';

export interface BuiltImage {
  component: Component;
  image: OciImage;
}

export const buildImages = async (): Promise<BuiltImage[]> => {
  await buildImagePrograms(path.join(root, 'dist'));
  const base = await baseLayer(architecture, cache, 1);
  const origin = { epoch: 1_700_000_000, revision: 'a'.repeat(40) };
  return Promise.all(
    components.map(async (component) => ({
      component,
      image: await componentImage(component, architecture, base, origin),
    })),
  );
};

export const imageNamed = (images: readonly BuiltImage[], name: string): BuiltImage => {
  const found = images.find(({ component }) => component.name === name);
  if (!found) throw new Error(`no image ${name}`);
  return found;
};
