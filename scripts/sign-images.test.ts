import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { components } from './images/components.ts';
import { archiveOfImage } from './images/image.ts';
import { digestOf, imageOf } from './images/oci.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-sign-'));
const file = (name: string): string => path.join(folder, name);
const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  spawnSync(process.execPath, [path.join(import.meta.dirname, 'sign-images.ts'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
const signWith = (key: string, environment: Record<string, string> = {}) =>
  run(['--key', file(key), '--images', file('.')], environment);

/** By OpenSSL, and with what cosign stores in base64. */
const isVerified = (content: string, signature: string): boolean => {
  writeFileSync(file('signature.der'), Buffer.from(readFileSync(file(signature), 'utf8'), 'base64'));
  const args = ['dgst', '-sha256', '-verify', file('public.pem'), '-signature', file('signature.der'), file(content)];
  return spawnSync('openssl', args).status === 0;
};

const image = imageOf({ architecture: 'amd64', config: {}, layers: [] });

before(() => {
  const [component] = components;
  assert.ok(component);
  writeFileSync(file('edgeset-manager_linux_amd64.tar'), archiveOfImage(image, component, 'amd64'));
  writeFileSync(file('edgeset-manager_linux_amd64.cdx.json'), '{}');
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file('key.pem'));
  openssl('ec', '-in', file('key.pem'), '-pubout', '-out', file('public.pem'));
  openssl('pkcs8', '-topk8', '-in', file('key.pem'), '-out', file('encrypted.pem'), '-passout', 'pass:secret');
  openssl('ecparam', '-name', 'secp384r1', '-genkey', '-noout', '-out', file('p384.pem'));
  writeFileSync(file('cosign.key'), '-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n');
  writeFileSync(file('text.pem'), 'not a key\n');
});
after(() => rmSync(folder, { recursive: true }));

describe('npm run sign:images', () => {
  it("states the image's digest as cosign does, and OpenSSL verifies it", () => {
    const { status, stderr } = signWith('key.pem');
    assert.equal(status, 0, stderr);
    const name = 'edgeset-manager_linux_amd64';
    assert.deepEqual(JSON.parse(readFileSync(file(`${name}.payload.json`), 'utf8')), {
      critical: {
        identity: { 'docker-reference': 'docker.io/edgeset/manager' },
        image: { 'docker-manifest-digest': image.manifest.digest },
        type: 'cosign container image signature',
      },
      optional: null,
    });
    assert.ok(isVerified(`${name}.payload.json`, `${name}.sig`));
    assert.ok(isVerified(`${name}.cdx.json`, `${name}.cdx.json.sig`));
    writeFileSync(file('other.json'), readFileSync(file(`${name}.payload.json`), 'utf8').replace('edgeset', 'other'));
    assert.ok(!isVerified('other.json', `${name}.sig`));
  });

  it('takes an encrypted key with its passphrase', () => {
    assert.match(signWith('encrypted.pem').stderr, /is encrypted: set EDGESET_SIGNING_PASSPHRASE/);
    const wrong = signWith('encrypted.pem', { EDGESET_SIGNING_PASSPHRASE: 'wrong' });
    assert.match(wrong.stderr, /can't be decrypted: correct EDGESET_SIGNING_PASSPHRASE/);
    const right = signWith('encrypted.pem', { EDGESET_SIGNING_PASSPHRASE: 'secret' });
    assert.equal(right.status, 0, right.stderr);
  });

  for (const [key, message] of [
    ['missing.pem', /can't be read/],
    ['text.pem', /is not a private key in PEM: make one with: openssl/],
    ['p384.pem', /is not an ECDSA key of the curve P-256: make one/],
    ['public.pem', /is public: give the private key/],
    ['cosign.key', /has cosign's own encryption, .*cosign import-key-pair/],
  ] as const)
    it(`refuses ${key}`, () => {
      const { status, stderr } = signWith(key);
      assert.equal(status, 1);
      assert.match(stderr, /^sign:images: --key: /);
      assert.match(stderr, message);
    });

  it('says what is missing', () => {
    assert.match(run([]).stderr, /^sign:images: --key is required: give --key FILE/);
    assert.match(run(['--key', file('key.pem'), '--images', file('none')]).stderr, /: run npm run build:images/);
  });

  it('refuses an archive whose manifest is not the one that it names', () => {
    const tar = readFileSync(file('edgeset-manager_linux_amd64.tar'));
    const at = tar.indexOf('"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest');
    tar.write('"schemaVersion":3', at, 'latin1');
    writeFileSync(file('edgeset-manager_linux_arm64.tar'), tar);
    const { status, stderr } = signWith('key.pem');
    rmSync(file('edgeset-manager_linux_arm64.tar'));
    assert.equal(status, 1);
    assert.match(stderr, /^sign:images: the archive holds sha256:/);
    assert.ok(!readdirSync(folder).includes('edgeset-manager_linux_arm64.sig'));
    assert.notEqual(digestOf(tar), image.manifest.digest);
  });
});
