// Bundles the agent for devices: one file that holds everything, its page too, and needs nothing but Node.

import { buildOwnerPage } from './build-page.ts';
import { type Bundle, bundle, type Replacement } from './bundle.ts';

/** Built here, for a device holds no build tools. */
const ownerPage: Replacement = {
  filter: /\/assets\.ts$/,
  contents: () => `export const ownerPage = async () => ${JSON.stringify(buildOwnerPage())};`,
};

/** Writes `edgeset-agent.mjs` into the folder. */
export const buildAgent = (folder: string): Promise<Bundle> =>
  bundle(folder, { name: 'edgeset-agent', entry: 'scripts/agent-entry.ts', replacements: [ownerPage] });
