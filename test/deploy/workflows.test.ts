import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { components } from '../../scripts/images/components.ts';

// actionlint checks the syntax, in test/cluster/workflows.

const folder = path.join(import.meta.dirname, '../../.github/workflows');

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Job {
  uses?: string;
  steps?: Step[];
  environment?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
}

const workflows = readdirSync(folder).map((file) => {
  const text = readFileSync(path.join(folder, file), 'utf8');
  const { jobs, permissions } = parse(text) as { jobs: Record<string, Job>; permissions?: Record<string, string> };
  return { file, text, jobs, permissions };
});

const jobsOf = (file: string): Record<string, Job> => workflows.find((each) => each.file === file)?.jobs ?? {};
const stepsOf = ({ steps = [] }: Job): Step[] => steps;
const scriptOf = (job: Job): string =>
  stepsOf(job)
    .map(({ run = '' }) => run)
    .join('\n');

for (const { file, text, jobs, permissions } of workflows)
  describe(file, () => {
    it('names every action by the digest of a commit, with its version', () => {
      const used = [...text.matchAll(/^.*\buses:\s*(.*)$/gm)].map(([, action = '']) => action);
      assert.ok(used.length > 0);
      for (const action of used.filter((each) => !each.startsWith('./')))
        assert.match(action, /^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    });

    it('installs nothing of npm that the lockfile does not pin', () => {
      const scripts = Object.values(jobs).map(scriptOf).join('\n');
      for (const [command, what = ''] of scripts.matchAll(
        /\b(?:npm (?:install|i|add|update|exec|x)|npx|corepack)\b(.*)$/gm,
      ))
        assert.match(what, /^ (tsc|node) |@\d+\.\d+\.\d+$/, command);
    });

    it('may read and nothing else by default, keeps no token, and has scripts without text of others', () => {
      assert.deepEqual(permissions, { contents: 'read' });
      for (const [name, job] of Object.entries(jobs)) {
        if (job.uses === undefined) assert.ok(job['timeout-minutes'], `${name} ends`);
        for (const { uses = '', run = '', with: inputs } of stepsOf(job)) {
          if (uses.startsWith('actions/checkout@')) assert.equal(inputs?.['persist-credentials'], false, name);
          assert.doesNotMatch(run, /\$\{\{/, name);
        }
      }
    });
  });

describe('the release', () => {
  const jobs = jobsOf('release.yml');
  const { build, images = {} } = jobs;

  it('gives a right to write only to a job of the environment, which runs no code of the checkout', () => {
    for (const [name, job] of Object.entries(jobs)) {
      if (!job.permissions || name === 'site') continue;
      assert.equal(job.environment, 'release', name);
      assert.equal(Object.keys(job.permissions).length, 1, `${name} has one right`);
      assert.deepEqual(
        stepsOf(job).filter(({ uses = '' }) => uses.startsWith('actions/checkout@')),
        [],
        name,
      );
      assert.match(scriptOf(job), /^sha256sum --check --strict SHA256SUMS$/m, name);
    }
  });

  it('publishes the site by a job that runs one action and no script', () => {
    assert.deepEqual(jobs['site']?.permissions, { pages: 'write', 'id-token': 'write' });
    assert.equal(jobs['site']?.environment, 'github-pages');
    assert.deepEqual(
      stepsOf(jobs['site'] ?? {}).map(({ uses = '', run, with: inputs }) => [uses.split('@')[0], run, inputs]),
      [['actions/deploy-pages', undefined, undefined]],
    );
  });

  it('builds with exact versions, from the lockfile, without scripts of dependencies', () => {
    assert.match(scriptOf(build ?? {}), /^npm ci --ignore-scripts$/m);
    for (const { with: inputs = {} } of Object.values(jobs).flatMap(stepsOf))
      for (const tool of ['node-version', 'go-version'])
        if (tool in inputs) assert.match(String(inputs[tool]), /^\d+\.\d+\.\d+$/);
  });

  it('pushes and signs every image that is built', () => {
    const [, names, commands = ''] = /^for name in (.*); do$([^]*?)^done$/m.exec(scriptOf(images)) ?? [];
    assert.deepEqual(
      names?.split(' '),
      components.map(({ name }) => name),
    );
    assert.match(
      commands,
      /skopeo copy --all --preserve-digests --digestfile "\$RUNNER_TEMP\/digest" "oci-archive:edgeset-\$\{name\}_/,
    );
    assert.match(
      commands,
      /image="docker\.io\/edgeset\/\$\{name\}@\$\(<"\$RUNNER_TEMP\/digest"\)"\n +grep --fixed-strings "\$image" RELEASE_NOTES\.md\n +cosign sign --yes --recursive "\$image"/,
    );
  });
});
