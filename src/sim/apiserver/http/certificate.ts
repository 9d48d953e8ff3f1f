import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

// client-go sends no bearer token over plain HTTP, not even to loopback (clientcmd drops a user's credentials unless the
// connection is TLS), so that kubectl needs a certificate. This is just enough DER (X.690) to make one.
const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const objectId = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
const octets = (...parts: Uint8Array[]): Buffer => der(0x04, ...parts);
const TRUE = der(0x01, Buffer.from([0xff]));

const ECDSA_SHA256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = objectId(0x55, 0x04, 0x03);
const BASIC_CONSTRAINTS = objectId(0x55, 0x1d, 0x13);
const ALTERNATIVE_NAMES = objectId(0x55, 0x1d, 0x11);

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));

const generalizedTime = (ms: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));

const DAY = 86_400_000;
const LIFETIME_DAYS = 365;

/** How long before now a certificate is good already: clocks of one machine may differ by time zone faults. */
const BACKDATED_DAYS = 1;

const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${(bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`;

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for 127.0.0.1, ::1 and localhost that vouches for itself, good for a year from `now` (ms). */
export const selfSigned = (now: number, random: () => number): Certificate => {
  const { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  });
  const serial = Buffer.from([1, ...Array.from({ length: 8 }, () => Math.floor(random() * 256))]);
  const name = nameOf('edgeset embedded cluster');
  const alternatives = sequence(
    der(0x87, Buffer.from([127, 0, 0, 1])),
    der(0x87, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
    der(0x82, Buffer.from('localhost')),
  );
  const extensions = sequence(
    sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE))),
    sequence(ALTERNATIVE_NAMES, octets(alternatives)),
  );
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_SHA256,
    name,
    sequence(generalizedTime(now - BACKDATED_DAYS * DAY), generalizedTime(now + LIFETIME_DAYS * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  return {
    cert: pem('CERTIFICATE', sequence(content, ECDSA_SHA256, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
};
