import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findPrograms, type Program } from './build.ts';

const all: Program[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'];

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'edgeset-build-'));
});
after(() => rm(dir, { recursive: true }));

const script = async (folder: string, name: string, text = ''): Promise<void> => {
  await mkdir(join(dir, folder), { recursive: true });
  await writeFile(join(dir, folder, name), `#!/bin/sh\n${text}\n`);
  await chmod(join(dir, folder, name), 0o755);
};

/** A "go" that answers `env` and notes each build; `fails` when it should not build. */
const fakeGo = (folder: string, fails = false): Promise<void> =>
  script(
    folder,
    'go',
    `if [ "$1" = env ]; then echo go1.99; exit 0; fi
echo "$@" >> ${join(dir, folder, 'builds')}
${fails ? 'echo no such module >&2; exit 1' : 'while [ "$1" != -o ]; do shift; done; echo > "$2"; /bin/chmod +x "$2"'}`,
  );

describe('the programs of the control plane', () => {
  it('come from KUBEBUILDER_ASSETS without Go when all are there', async () => {
    for (const name of all) await script('assets', name);
    const found = await findPrograms({ environment: { KUBEBUILDER_ASSETS: join(dir, 'assets'), PATH: '' } });
    assert.equal(found.kwok, join(dir, 'assets', 'kwok'));
  });

  it('are those of EDGESET_KUBERNETES, which names a version that can be built', async () => {
    await fakeGo('older');
    const environment = {
      EDGESET_KUBERNETES: '1.33',
      PATH: join(dir, 'older'),
      XDG_CACHE_HOME: join(dir, 'older-cache'),
    };
    await findPrograms({ environment, report: () => undefined });
    assert.match(readFileSync(join(dir, 'older', 'builds'), 'utf8'), /gitVersion=v1\.33\.\d+ .*gitMinor=33 /);
    await assert.rejects(findPrograms({ environment: { ...environment, EDGESET_KUBERNETES: '1.29' } }), {
      message: 'EDGESET_KUBERNETES is "1.29": set it to one of 1.34, 1.33',
    });
  });

  it('that KUBEBUILDER_ASSETS lacks are built, once, even when two ask at the same time', async () => {
    await script('some', 'etcd');
    await script('some', 'kube-apiserver');
    await fakeGo('go');
    const environment = {
      KUBEBUILDER_ASSETS: join(dir, 'some'),
      PATH: join(dir, 'go'),
      XDG_CACHE_HOME: join(dir, 'cache'),
    };
    const report = (): void => undefined;
    const [found] = await Promise.all([findPrograms({ environment, report }), findPrograms({ environment, report })]);
    assert.equal(found.etcd, join(dir, 'some', 'etcd'));
    assert.ok(existsSync(found['kube-scheduler']));
    await findPrograms({ environment, report });
    const [folder = ''] = await readdir(join(dir, 'cache', 'edgeset'));
    assert.deepEqual(new Set(await readdir(join(dir, 'cache', 'edgeset', folder))), new Set(all.slice(2)));
    const builds = readFileSync(join(dir, 'go', 'builds'), 'utf8')
      .trim()
      .split('\n');
    assert.equal(builds.length, 3);
    assert.ok(builds.every((line) => line.includes('-trimpath')));
  });

  it('that cannot be built for want of Go name the remedy', async () => {
    await assert.rejects(findPrograms({ environment: { PATH: '', XDG_CACHE_HOME: dir } }), {
      code: 'GoMissing',
      message: /install Go .* or set KUBEBUILDER_ASSETS/,
    });
  });

  it('whose build fails say what the compiler said, and leave nothing half done', async () => {
    await fakeGo('broken', true);
    const environment = { PATH: join(dir, 'broken'), XDG_CACHE_HOME: join(dir, 'torn') };
    await assert.rejects(findPrograms({ environment, report: () => undefined }), {
      code: 'BuildFailed',
      message: /building etcd failed: .*no such module/,
    });
    const [folder = ''] = await readdir(join(dir, 'torn', 'edgeset'));
    assert.deepEqual(await readdir(join(dir, 'torn', 'edgeset', folder)), []);
  });
});
