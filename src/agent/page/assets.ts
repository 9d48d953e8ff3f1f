import type { Asset } from './asset.ts';

/**
 * The page built from its sources, as a checkout needs it. In the bundled agent this file is replaced by the built page
 * itself (scripts/build-agent.ts): a device holds no build tools.
 */
export const ownerPage = async (): Promise<readonly Asset[]> => {
  const { buildOwnerPage } = await import('../../../scripts/build-page.ts');
  return buildOwnerPage();
};
