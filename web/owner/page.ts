// The owner's page for an agent that runs from a checkout (`#owner-page` in package.json). A bundle holds the built page in
// its place, because a device has no build tools.

import type { Asset } from '../../src/http/index.ts';

export const ownerPage = async (): Promise<readonly Asset[]> => {
  const { buildPage } = await import('../page.ts');
  return buildPage('owner').assets;
};
