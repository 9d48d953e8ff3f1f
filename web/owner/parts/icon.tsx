/** Drawn in the colour of the text next to them. The text always says the same. */
const paths = {
  check: 'M5 12.5l4.5 4.5L19 7.5',
  warn: 'M12 8v5m0 3.5v.01M12 3.5l9 16H3z',
  cloudOff: 'M3 3l18 18M7 8.5A4.5 4.5 0 0 0 7.5 18H16m3.5-1.2A4 4 0 0 0 17 10h-.6A6 6 0 0 0 10 6.2',
  cloud: 'M7.5 18A4.5 4.5 0 0 1 7 9.1 6 6 0 0 1 18.3 10 4 4 0 0 1 18 18z',
  globe: 'M3.5 12h17M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zm0 0c5 5 5 12 0 17-5-5-5-12 0-17z',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  clock: 'M12 7v5l3.5 2M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z',
  arrow: 'M4 12h15m-6-6l6 6-6 6',
  update: 'M19.5 12a7.5 7.5 0 1 1-2.4-5.5M19.5 3v4.5H15',
  download: 'M12 4v11m-5-5l5 5 5-5M5 20h14',
  contact: 'M6 3.5h3l1.5 4-2 1.5a12 12 0 0 0 6.5 6.5l1.5-2 4 1.5v3a2 2 0 0 1-2 2A15 15 0 0 1 4 5.5a2 2 0 0 1 2-2z',
  shield: 'M12 3.5l7 2.5v5.5c0 4.3-2.8 7.6-7 9-4.2-1.4-7-4.7-7-9V6z',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
