// Signatures in cosign's format, without cosign and without a network:
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

const CURE = 'make one with: openssl ecparam -name prime256v1 -genkey -noout -out edgeset.key';

/** Reads an ECDSA key of the curve P-256 in PEM, which is what cosign uses. Throws an error that names the flag. */
export const readKey = (file: string, passphrase: string | undefined): KeyObject => {
  const fail = (problem: string, cause?: unknown): never => {
    throw new Error(`--key: ${file} ${problem}`, { cause });
  };
  let pem = '';
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    fail(
      `can't be read (${error instanceof Error ? error.message : String(error)}): give the file of a private key`,
      error,
    );
  }
  if (/BEGIN ENCRYPTED (SIGSTORE|COSIGN) PRIVATE KEY/.test(pem))
    fail(
      `has cosign's own encryption, which only cosign reads: ${CURE}, and give it to cosign with cosign import-key-pair`,
    );
  if (/BEGIN (PUBLIC KEY|CERTIFICATE)/.test(pem)) fail('is public: give the private key');
  const encrypted = /ENCRYPTED/.test(pem);
  if (encrypted && passphrase === undefined) fail('is encrypted: set EDGESET_SIGNING_PASSPHRASE');
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    const problem = encrypted
      ? "can't be decrypted: correct EDGESET_SIGNING_PASSPHRASE"
      : `is not a private key in PEM: ${CURE}`;
    return fail(problem, error);
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    fail(`is not an ECDSA key of the curve P-256: ${CURE}`);
  return key;
};

/** What is signed in place of an image: a statement about its digest. `repository`: without a tag. */
export const payloadOf = (repository: string, digest: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': repository },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    }),
  );

/** In base64, as `cosign verify-blob` and `cosign attach signature` take it. */
export const signatureOf = (content: Buffer, key: KeyObject): string => sign('sha256', content, key).toString('base64');
