import { wordlessHash } from '../wordless-hash.ts';

/**
 * The hash label of a new revision, from the digest of its template. `collisionCount` sets apart revisions whose names
 * would otherwise be the same.
 */
export const revisionHash = (templateDigest: string, collisionCount: number): string =>
  wordlessHash(`${templateDigest}/${collisionCount}`);
