import { shorten } from '../facts/pod-trouble.ts';
import type { DriftingImage } from '../fleet/image-drift.ts';

// The texts below fit into a condition and an Event, however long the names are.
const MOST_IMAGES = 2;
const MOST_IDS = 3;
const LONGEST_NAME = 80;
const LONGEST_ARCH = 16;

const nameOf = ({ image }: DriftingImage): string => shorten(image, LONGEST_NAME);

const idsText = (ids: DriftingImage['ids']): string => {
  const first = ids
    .slice(0, MOST_IDS)
    .map(({ digest, nodes }) => `${nodes} ${nodes === 1 ? 'node reports' : 'nodes report'} ${digest}`);
  const others = ids.slice(MOST_IDS).reduce((sum, { nodes }) => sum + nodes, 0);
  return `${first.join(', ')}${others > 0 ? ` and ${others} ${others === 1 ? 'reports another' : 'report others'}` : ''}`;
};

/** The names of the images, without what changes while nodes come and go. */
export const namesOf = (drift: readonly DriftingImage[] = []): string => {
  const names = [...new Set(drift.map(nameOf))];
  const more = names.length - MOST_IMAGES;
  const some = names.slice(0, MOST_IMAGES).join(' and ');
  return names.length === 0 ? 'an image' : `${some}${more > 0 ? ` and ${more} more` : ''}`;
};

/** What differs, and on how many nodes; empty for nothing. */
export const driftText = (drift: readonly DriftingImage[]): string => {
  const texts = drift
    .slice(0, MOST_IMAGES)
    .map(
      (each) =>
        `Image ${nameOf(each)} is not the same on all nodes${each.arch && ` of ${shorten(each.arch, LONGEST_ARCH)}`}: ${idsText(each.ids)}.`,
    );
  const more = drift.length - MOST_IMAGES;
  return [...texts, ...(more > 0 ? [`${more} more differ.`] : [])].join(' ');
};

export const REMEDY_OF_DRIFT = 'Give each version a tag of its own, or name images by their digests.';
