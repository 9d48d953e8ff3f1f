import type { KeyObject } from 'node:crypto';

// Just enough DER (X.690) to issue X.509 certificates without a tool or a dependency: the embedded cluster serves TLS
// because client-go sends no bearer token over plain HTTP, not even to loopback.
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const objectId = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const integer = (...bytes: readonly number[]): Buffer => der(0x02, Buffer.from(bytes));
const TRUE = der(0x01, Buffer.from([0xff]));

const ECDSA_SHA256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = objectId(0x55, 0x04, 0x03);
const BASIC_CONSTRAINTS = objectId(0x55, 0x1d, 0x13);
const ALTERNATIVE_NAMES = objectId(0x55, 0x1d, 0x11);

const distinguishedName = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(commonName)))));

const generalizedTime = (ms: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));

const isAuthority = sequence(BASIC_CONSTRAINTS, TRUE, der(0x04, sequence(TRUE)));

/** Names a TLS client may connect to: the loopback addresses and these DNS names. */
const alternativeNames = (dnsNames: readonly string[]): Buffer => {
  const addresses = [
    [127, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  ].map((bytes) => der(0x87, Buffer.from(bytes)));
  const names = dnsNames.map((name) => der(0x82, Buffer.from(name)));
  return sequence(ALTERNATIVE_NAMES, der(0x04, sequence(...addresses, ...names)));
};

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 365;
/** How long before now a certificate is already valid: clocks may disagree. */
const BACKDATED_DAYS = 1;

/** A certificate and its private key, both PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority extends Identity {
  /** A certificate for the loopback addresses and `dnsNames` (default `localhost`), for servers and clients. */
  issue(commonName: string, dnsNames?: readonly string[]): Identity;
}

export interface CertificateOptions {
  /** The start of the validity period, ms since the Unix epoch. Certificates are valid for a year. */
  now: number;
  /** Makes serial numbers; uniform in [0, 1). */
  random: () => number;
}

const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

/** A self-signed authority. Its own certificate also serves the loopback addresses and `localhost`. */
export const createCertificateAuthority = (name: string, { now, random }: CertificateOptions): CertificateAuthority => {
  // Loaded on demand: every process imports this folder, and crypto takes 6 ms.
  const { generateKeyPairSync, sign } = process.getBuiltinModule('node:crypto');
  const newKey = (): { publicKey: KeyObject; privateKey: KeyObject } =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = newKey();
  const certify = (
    subject: string,
    { publicKey, privateKey }: ReturnType<typeof newKey>,
    extensions: readonly Buffer[],
  ): Identity => {
    const serial = [1, ...Array.from({ length: 8 }, () => Math.floor(random() * 256))];
    const content = sequence(
      der(0xa0, integer(2)),
      integer(...serial),
      ECDSA_SHA256,
      distinguishedName(name),
      sequence(generalizedTime(now - BACKDATED_DAYS * DAY_MS), generalizedTime(now + LIFETIME_DAYS * DAY_MS)),
      distinguishedName(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(...extensions)),
    );
    const signature = der(0x03, Buffer.from([0]), sign('sha256', content, issuer.privateKey));
    return {
      cert: pem(sequence(content, ECDSA_SHA256, signature)),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    };
  };
  return {
    ...certify(name, issuer, [isAuthority, alternativeNames(['localhost'])]),
    issue: (commonName, dnsNames = ['localhost']) => certify(commonName, newKey(), [alternativeNames(dnsNames)]),
  };
};
