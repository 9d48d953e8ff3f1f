// The image of one component for one architecture.

import manifest from '../../package.json' with { type: 'json' };
import { type Component, ENVIRONMENT, entrypointOf } from './components.ts';
import { baseContents, programContents } from './contents.ts';
import { type Architecture, withDebianPackages } from './debian-packages.ts';
import { layerOf } from './layers.ts';
import { nodePackage } from './node-package.ts';
import { archiveOf, type Blob, type Descriptor, descriptorOf, imageOf, type Layer, type OciImage } from './oci.ts';
import type { Entry } from './tar.ts';

/** What a build is told about itself. */
export interface Origin {
  /** Seconds since 1970: of the sources, not of the build. */
  epoch: number;
  /** The commit, if it is known. */
  revision?: string | undefined;
}

/** RFC 3339. */
export const createdOf = ({ epoch }: Origin): string => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');

/** The files of the base, which are downloaded into the folder if they aren't there. */
export const baseEntries = (architecture: Architecture, cache: string): Entry[] => {
  const node = nodePackage(architecture, cache);
  return withDebianPackages(architecture, cache, (packages) => baseContents(architecture, node, packages));
};

/** `cache`: keeps what was downloaded and compressed. `level`: of the compression, for tests that can't wait a minute. */
export const baseLayer = (architecture: Architecture, cache: string, level?: number): Promise<Layer> =>
  layerOf(baseEntries(architecture, cache), level === undefined ? { cache } : { level });

/** The reference that the manifests in `deploy/` use, in full. */
export const referenceOf = ({ name }: Component): string => `docker.io/edgeset/${name}:${manifest.version}`;

const LICENSES = 'Apache-2.0 AND MIT AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1';

const labelsOf = ({ title, description }: Component, { revision }: Origin, created: string) => ({
  'org.opencontainers.image.title': title,
  'org.opencontainers.image.description': description,
  'org.opencontainers.image.version': manifest.version,
  'org.opencontainers.image.created': created,
  'org.opencontainers.image.licenses': LICENSES,
  ...(revision !== undefined && { 'org.opencontainers.image.revision': revision }),
});

export const componentImage = async (
  component: Component,
  architecture: Architecture,
  base: Layer,
  origin: Origin,
): Promise<OciImage> => {
  const created = createdOf(origin);
  const labels = labelsOf(component, origin, created);
  return imageOf({
    architecture,
    created,
    config: {
      User: `${component.uid}:${component.uid}`,
      Env: Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
      Entrypoint: entrypointOf(component),
      ...(component.command.length > 0 && { Cmd: component.command }),
      WorkingDir: '/',
      Labels: labels,
    },
    layers: [base, await layerOf(programContents(component))],
    history: [
      { created, created_by: 'Node and the libraries of Debian that it needs' },
      { created, created_by: component.title },
    ],
    annotations: labels,
  });
};

/** The entry of an image, or of an index of images, in an archive. Importers name the image by it. */
export const namedEntry = (entry: Descriptor, component: Component): Descriptor => ({
  ...entry,
  annotations: {
    'io.containerd.image.name': referenceOf(component),
    'org.opencontainers.image.ref.name': manifest.version,
  },
});

export const platformEntry = ({ manifest: blob }: OciImage, architecture: Architecture): Descriptor => ({
  ...descriptorOf(blob),
  platform: { architecture, os: 'linux' },
});

export const blobsOf = ({ manifest: blob, config, layers }: OciImage): Blob[] => [blob, config, ...layers];

export const archiveOfImage = (image: OciImage, component: Component, architecture: Architecture): Buffer =>
  archiveOf([namedEntry(platformEntry(image, architecture), component)], blobsOf(image));

export const MEGABYTE = 1_000_000;
const LARGEST = 60 * MEGABYTE;

export const sizeOf = ({ layers }: OciImage): number => layers.reduce((sum, { bytes }) => sum + bytes.length, 0);

export const checkSize = (name: string, bytes: number): void => {
  if (bytes >= LARGEST)
    throw new Error(
      `${name} has ${(bytes / MEGABYTE).toFixed(1)} MB compressed, and may have ${LARGEST / MEGABYTE}: see with "npm run build -- --report" what is in the program`,
    );
};
