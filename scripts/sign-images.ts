// npm run sign:images -- --key FILE: signs what npm run build:images wrote, offline and in cosign's format. Writes beside each
// archive NAME.payload.json, a statement about the digest of its image, and its signature NAME.sig; and beside each bill of
// materials its signature. docs/how-to/build-images.md says how to verify them.
//   --images FOLDER     in place of dist/images
// EDGESET_SIGNING_PASSPHRASE: of the key, if it is encrypted.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readArchive } from './images/oci.ts';
import { payloadOf, readKey, signatureOf } from './images/signature.ts';

const main = (): void => {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      images: { type: 'string', default: path.join(import.meta.dirname, '../dist/images') },
    },
  });
  if (values.key === undefined)
    throw new Error('--key is required: give --key FILE, an ECDSA key of the curve P-256 in PEM');
  const key = readKey(values.key, process.env.EDGESET_SIGNING_PASSPHRASE);
  const inFolder = (name: string): string => path.join(values.images, name);
  const files = readdirSync(values.images).filter((name) => /^edgeset-.*\.(tar|cdx\.json)$/.test(name));
  if (!files.some((name) => name.endsWith('.tar')))
    throw new Error(`--images: ${values.images} has no images: run npm run build:images`);
  for (const name of files.toSorted()) {
    if (!name.endsWith('.tar')) {
      writeFileSync(inFolder(`${name}.sig`), signatureOf(readFileSync(inFolder(name)), key));
      continue;
    }
    const { reference, digest } = readArchive(inFolder(name));
    const payload = payloadOf(reference.replace(/:[^:/]+$/, ''), digest);
    writeFileSync(inFolder(name.replace(/tar$/, 'payload.json')), payload);
    writeFileSync(inFolder(name.replace(/tar$/, 'sig')), signatureOf(payload, key));
    console.log(`${name}  ${digest}`);
  }
};

try {
  main();
} catch (error) {
  const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  console.error(
    `sign:images: ${error instanceof Error ? error.message : String(error)}${missing ? ': run npm run build:images' : ''}`,
  );
  process.exitCode = 1;
}
