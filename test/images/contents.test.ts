import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { parse } from 'yaml';
import { AGENT_FLAGS, DASHBOARD_FLAGS, MANAGER_FLAGS } from '../../bin/flags.ts';
import manifest from '../../package.json' with { type: 'json' };
import { referenceOf } from '../../scripts/images/image.ts';
import { type BuiltImage, buildImages, imageNamed, whyNoImages } from './images.ts';

interface Config {
  created: string;
  rootfs: { diff_ids: string[] };
  config: { User: string; Env: string[]; Entrypoint: string[]; Cmd?: string[]; Labels: Record<string, string> };
}
const configOf = ({ image }: BuiltImage): Config => JSON.parse(image.config.bytes.toString()) as Config;

/** Each file of the layer as tar lists it: mode, owner and name. */
const filesOf = ({ image }: BuiltImage, layer: number): [mode: string, owner: string, name: string][] =>
  execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--file', '-'], {
    input: zstdDecompressSync(image.layers[layer]?.bytes ?? Buffer.alloc(0)),
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [mode = '', owner = '', , , , name = ''] = line.split(/ +/);
      return [mode, owner, name];
    });

describe('the images', { skip: whyNoImages }, () => {
  let images: BuiltImage[];
  before(async () => {
    images = await buildImages();
  });

  it('have the same digests when they are built again', async () => {
    const digests = (built: readonly BuiltImage[]) => built.map(({ image }) => image.manifest.digest);
    assert.deepEqual(digests(await buildImages()), digests(images));
  });

  it('share the layer with Node', () => {
    const [base, ...others] = images.map(({ image }) => image.layers[0]?.digest);
    for (const other of others) assert.equal(other, base);
  });

  it('hold Node, its libraries and accounts, and no other program: no shell, no npm, no package manager', () => {
    const base = filesOf(imageNamed(images, 'manager'), 0);
    const names = base.map(([, , name]) => name);
    const programs = base.filter(([mode]) => mode.startsWith('-rwx')).map(([, , name]) => name);
    assert.deepEqual(
      programs.filter((name) => !/\.so\.\d+$/.test(name)),
      ['usr/local/bin/node'],
    );
    assert.equal(programs.length, 9, programs.join());
    for (const name of ['etc/passwd', 'etc/group', 'etc/nsswitch.conf', 'etc/os-release', 'usr/share/doc/node/LICENSE'])
      assert.ok(names.includes(name), name);
    for (const name of ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1']) {
      assert.ok(names.includes(`var/lib/dpkg/status.d/${name}`), name);
      assert.ok(names.includes(`usr/share/doc/${name}/copyright`), name);
    }
  });

  it('belong to root, and nobody else may write to them, save for /tmp', () => {
    for (const each of images)
      for (const layer of each.image.layers.keys())
        for (const [mode, owner, name] of filesOf(each, layer)) {
          assert.equal(owner, '0/0', name);
          assert.doesNotMatch(mode, /^.{3}[sS]|^.{6}[sS]/, name);
          if (!mode.startsWith('l') && name !== 'tmp/') assert.match(mode, /^.{5}-..-/, name);
        }
  });

  it('add to the base the program and licenses only', () => {
    for (const name of ['manager', 'agent', 'dashboard'])
      assert.deepEqual(
        filesOf(imageNamed(images, name), 1).map(([, , file]) => file),
        ['app/', 'app/LICENSE', `app/edgeset-${name}.mjs`, `app/edgeset-${name}.mjs.LEGAL.txt`],
      );
  });

  it('start the program with its flags as the user of the manifests', () => {
    for (const [name, uid, flags, command] of [
      ['manager', 65532, MANAGER_FLAGS, ['help']],
      ['agent', 10267, AGENT_FLAGS, undefined],
      ['dashboard', 65531, DASHBOARD_FLAGS, ['help']],
    ] as const) {
      const { config } = configOf(imageNamed(images, name));
      assert.equal(config.User, `${uid}:${uid}`);
      assert.deepEqual(config.Entrypoint, ['/usr/local/bin/node', ...flags, `/app/edgeset-${name}.mjs`]);
      assert.deepEqual(config.Cmd, command);
      assert.ok(config.Env.includes('MALLOC_ARENA_MAX=1'));
    }
  });

  it('say what they are and when their sources were made', () => {
    const built = imageNamed(images, 'manager');
    const { created, config } = configOf(built);
    assert.equal(created, '2023-11-14T22:13:20Z');
    assert.equal(config.Labels['org.opencontainers.image.version'], manifest.version);
    assert.equal(config.Labels['org.opencontainers.image.revision'], 'a'.repeat(40));
    assert.equal(config.Labels['org.opencontainers.image.created'], created);
    const { annotations } = parse(built.image.manifest.bytes.toString()) as { annotations: unknown };
    assert.deepEqual(annotations, config.Labels);
    assert.equal(referenceOf(built.component), `docker.io/edgeset/manager:${manifest.version}`);
  });
});
