import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { systemClock } from '../../runtime/index.ts';

// Just enough DER (X.690) to make certificates for tests without a tool or a dependency.
const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
const bool = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
const time = (date: Date): Buffer =>
  der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = (name: string): Buffer => sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), utf8(name))));
const extension = (id: Buffer, critical: boolean, value: Buffer): Buffer =>
  critical ? sequence(id, bool(true), der(0x04, value)) : sequence(id, der(0x04, value));

export interface Identity {
  cert: string;
  key: string;
}

export interface Authority {
  readonly cert: string;
  /** A certificate for 127.0.0.1 and the DNS names, good for servers and clients. */
  issue(name: string, dnsNames?: string[]): Identity;
}

const HOUR = 3_600_000;

const certificate = (
  subject: string,
  publicKey: KeyObject,
  issuer: { name: string; key: KeyObject },
  extensions: Buffer[],
): string => {
  const now = systemClock.now();
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = createHash('sha256').update(spki).digest().subarray(0, 8);
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), serial])),
    ecdsaWithSha256,
    commonName(issuer.name),
    sequence(time(new Date(now - HOUR)), time(new Date(now + 24 * HOUR))),
    commonName(subject),
    spki,
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', tbs, issuer.key);
  const whole = sequence(tbs, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
};

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return { pem, publicKey, privateKey: createPrivateKey(pem) };
};

export const createAuthority = (name = 'test authority'): Authority => {
  const root = newKey();
  const issuer = { name, key: root.privateKey };
  const isAuthority = extension(oid(0x55, 0x1d, 0x13), true, sequence(bool(true)));
  return {
    cert: certificate(name, root.publicKey, issuer, [isAuthority]),
    issue(subject, dnsNames = ['localhost']) {
      const key = newKey();
      const names = dnsNames.map((dns) => der(0x82, Buffer.from(dns)));
      const address = der(0x87, Buffer.from([127, 0, 0, 1]));
      const alternatives = extension(oid(0x55, 0x1d, 0x11), false, sequence(address, ...names));
      return { key: key.pem, cert: certificate(subject, key.publicKey, issuer, [alternatives]) };
    },
  };
};
