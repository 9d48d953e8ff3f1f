import { createHash } from 'node:crypto';

// Kubernetes spells hashes with letters and digits that form no words.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const LENGTH = 10;

/**
 * The hash label of a new revision, from the digest of its template. `collisionCount` sets apart revisions whose names
 * would otherwise be the same.
 */
export const revisionHash = (templateDigest: string, collisionCount: number): string => {
  const bytes = createHash('sha256').update(`${templateDigest}/${collisionCount}`).digest();
  return Array.from(bytes.subarray(0, LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
};
