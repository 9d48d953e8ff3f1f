// The dashboard's page for a command line that runs from a checkout (`#fleet-page` in package.json). A bundle holds the built
// page in its place.

import type { Asset } from '../../src/http/index.ts';

export const fleetPage = async (): Promise<readonly Asset[]> => {
  const { buildPage } = await import('../page.ts');
  return buildPage('fleet').assets;
};
