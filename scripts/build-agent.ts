// Bundles the agent for devices: one file with everything, including the owner's page, that needs only Node.

import { buildOwnerPage } from './build-page.ts';
import { type Bundle, bundle, type Replacement } from './bundle.ts';

/** The page is built now: a device has no build tools. */
const ownerPage: Replacement = {
  filter: /^#owner-page$/,
  contents: () => `export const ownerPage = async () => ${JSON.stringify(buildOwnerPage())};`,
};

/** Writes `edgeset-agent.mjs` into the folder. */
export const buildAgent = (folder: string): Promise<Bundle> =>
  bundle(folder, { name: 'edgeset-agent', entry: 'scripts/agent-entry.ts', replacements: [ownerPage] });
