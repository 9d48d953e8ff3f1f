import { text } from '../text/index.ts';
import type { VersionStep } from '../types.ts';

type Image = VersionStep['images'][number];

const change = ({ from, to }: Pick<Image, 'from' | 'to'>): string =>
  from === '' || from === to ? to : text.version.change(from, to);

/** `4.7.0 → 4.8.0`; of several images how many there are, with all of them where somebody points. */
export const Version = ({ version }: { version: VersionStep }) => {
  const { from, to, changed, images } = version;
  if (images.length === 0) return null;
  const all = images.map((image) => text.version.image(image.name, change(image))).join('\n');
  const [only] = images.length === 1 ? images : [];
  return (
    <span class="version" title={all}>
      {to === '' && from === ''
        ? only
          ? change(only)
          : text.version.images(changed > 0 ? changed : images.length)
        : change({ from, to })}
    </span>
  );
};

/** The same with every image that changed, on lines of their own. */
export const Versions = ({ version }: { version: VersionStep }) => {
  const { images, changed } = version;
  if (images.length === 1 || changed === 1) return <Version version={version} />;
  return (
    <ul class="versions">
      {images
        .filter(({ from, to }) => changed === 0 || from !== to)
        .map((image, index) => (
          <li key={`${index} ${image.name}`} class="version">
            {text.version.image(image.name, change(image))}
          </li>
        ))}
    </ul>
  );
};
