import { createHash } from 'node:crypto';

// The characters of Kubernetes' SafeEncodeString: no vowels, so that hashes form no words.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export const HASH_LENGTH = 10;

/** A hash of the text that is valid in object names and label values. */
export const safeHash = (text: string): string => {
  const bytes = createHash('sha256').update(text).digest();
  return Array.from(bytes.subarray(0, HASH_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
};

/** The hash label of a revision. `collisionCount` tells apart revisions that would get the same name. */
export const revisionHash = (templateDigest: string, collisionCount: number): string =>
  safeHash(`${templateDigest}/${collisionCount}`);
