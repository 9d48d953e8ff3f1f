import type { IconName } from './icons.ts';

export type { IconName } from './icons.ts';

/** The build writes the drawings here: see page.ts. */
declare const ICONS: Readonly<Record<IconName, string>>;

const drawings = ICONS;

/** Drawn in the color of the text next to it. The text always says the same. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    aria-hidden="true"
    focusable="false"
    // Of the package, so it needs no escaping.
    dangerouslySetInnerHTML={{ __html: drawings[name] }}
  />
);
