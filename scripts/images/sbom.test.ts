import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { buildAgent, buildManager } from '../bundle.ts';
import type { BundledPackage } from '../notices.ts';
import { type Component, components } from './components.ts';
import { lockedNode } from './node-package.ts';
import { imageOf } from './oci.ts';
import { sbomOf } from './sbom.ts';

interface Part {
  name: string;
  version: string;
  purl?: string;
  licenses?: { expression: string }[];
  hashes?: { alg: string; content: string }[];
  components?: Part[];
}
interface Sbom {
  serialNumber: string;
  metadata: { timestamp: string; component: { 'bom-ref': string } };
  components: Part[];
}

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-sbom-'));
const binary = Buffer.from('node');
const image = imageOf({ architecture: 'arm64', config: {}, layers: [] });

const make = (name: string, packages: readonly BundledPackage[]): Sbom => {
  const component = components.find((each): each is Component => each.name === name);
  assert.ok(component);
  const node = { ...lockedNode('arm64'), binary, license: Buffer.alloc(0) };
  return sbomOf({ component, architecture: 'arm64', image, origin: { epoch: 0 }, node, packages }) as Sbom;
};

const partNamed = (sbom: Sbom, name: string): Part => {
  const found = sbom.components.find((part) => part.name === name);
  assert.ok(found, name);
  return found;
};

/** CycloneDX's own schema, with those that it refers to. */
const validator = () => {
  const schemas = path.join(import.meta.dirname, '../../node_modules/@cyclonedx/cyclonedx-library');
  const schema = (name: string) =>
    JSON.parse(readFileSync(path.join(schemas, `res/schema/${name}.SNAPSHOT.schema.json`), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  addFormats.default(ajv);
  for (const name of ['spdx', 'jsf-0.82']) {
    // The main schema refers to them relative to its own address.
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(schema('bom-1.6'));
};

describe('the bill of materials', () => {
  let agent: Sbom;
  let manager: Sbom;
  before(async () => {
    agent = make('agent', (await buildAgent(path.join(folder, 'agent'))).packages);
    manager = make('manager', (await buildManager(path.join(folder, 'manager'))).packages);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is valid CycloneDX 1.6', () => {
    const validate = validator();
    for (const sbom of [agent, manager]) assert.ok(validate(sbom), JSON.stringify(validate.errors));
    assert.ok(!validate({ ...agent, components: [{ type: 'library' }] }), 'the validator finds a missing name');
  });

  it('lists Node with the libraries in it, and the hash of its binary', () => {
    const { version, purl, hashes, components: linked = [] } = partNamed(agent, 'node');
    assert.equal(version, lockedNode('arm64').version);
    assert.equal(purl, `pkg:generic/node@${version}`);
    assert.deepEqual(hashes, [{ alg: 'SHA-256', content: createHash('sha256').update(binary).digest('hex') }]);
    assert.ok(linked.some((part) => part.name === 'openssl' && part.version === process.versions.openssl));
  });

  it("lists Debian's packages of the architecture, as scanners name them", () => {
    const { purl, hashes, licenses } = partNamed(manager, 'libc6');
    assert.match(purl ?? '', /^pkg:deb\/debian\/libc6@2\.36-[\w%.]+\?arch=arm64&distro=debian-12$/);
    assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{64}$/);
    assert.deepEqual(licenses, [{ expression: 'LGPL-2.1-or-later' }]);
  });

  it('lists the packages of npm in the program and in the page, with license and hash', () => {
    assert.ok(partNamed(agent, 'preact'));
    assert.match(partNamed(agent, '@preact/signals').purl ?? '', /^pkg:npm\/%40preact\/signals@\d/);
    assert.ok(!manager.components.some(({ name }) => name === 'preact'));
    for (const { name, version, licenses, hashes } of [...agent.components, ...manager.components]) {
      assert.ok(version && licenses?.[0]?.expression, name);
      assert.ok(hashes?.[0]?.content, `${name} has a hash`);
    }
    assert.match(partNamed(manager, 'prom-client').hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/);
  });

  it('names the image by its digest, and depends on nothing else', () => {
    assert.ok(agent.metadata.component['bom-ref'].endsWith(`@${image.manifest.digest}`));
    assert.equal(agent.metadata.timestamp, '1970-01-01T00:00:00Z');
    assert.match(agent.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
