// The owner's page as the files that the agent serves. Its sources are in web/owner.

export type { Asset } from './asset.ts';
export { ownerPage as loadOwnerPage } from './assets.ts';
