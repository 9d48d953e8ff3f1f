import { createHash } from 'node:crypto';

// Kubernetes spells hashes with letters and digits that form no words.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Of every hash made here. */
export const HASH_LENGTH = 10;

/** A hash of the text that names of objects and values of labels can carry. */
export const safeHash = (text: string): string => {
  const bytes = createHash('sha256').update(text).digest();
  return Array.from(bytes.subarray(0, HASH_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
};

/**
 * The hash label of a new revision, from the digest of its template. `collisionCount` sets apart revisions whose names
 * would otherwise be the same.
 */
export const revisionHash = (templateDigest: string, collisionCount: number): string =>
  safeHash(`${templateDigest}/${collisionCount}`);
