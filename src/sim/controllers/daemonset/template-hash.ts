// Kubernetes spells 32-bit hashes with letters that form no words.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const fnv32a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
};

/**
 * The label of a revision: as long and of the same letters as the native controller's, though not the same for the same
 * template, which only its own code can compute. `collisions` sets apart templates with the same hash.
 */
export const templateHash = (template: string, collisions: number | undefined): string => {
  const hash = fnv32a(collisions === undefined ? template : `${template}#${collisions}`);
  return Array.from(String(hash), (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
};
