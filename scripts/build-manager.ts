// Bundles the manager for its image: sources would be stripped of their types at each start, which costs 27 MiB for good.

import { type Bundle, bundle } from './bundle.ts';

/** Writes `edgeset-manager.mjs` into the folder. */
export const buildManager = (folder: string): Promise<Bundle> =>
  bundle(folder, { name: 'edgeset-manager', entry: 'scripts/manager-entry.ts' });
