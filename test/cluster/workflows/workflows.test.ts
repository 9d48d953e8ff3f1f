import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { buildOnce } from '../controlplane/build.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '.github', 'workflows');

const sources = {
  // `module` is in the name of the cache's folder, which must not depend on where the repository is.
  actionlint: { module: '../workflows', main: 'github.com/rhysd/actionlint/cmd/actionlint', ldflags: '-s -w' },
} as const;

it('actionlint finds nothing wrong with the workflows', { timeout: 300_000 }, async () => {
  const { actionlint } = await buildOnce('actionlint', sources, ['actionlint'], {});
  const files = readdirSync(folder).map((name) => join(folder, name));
  // Without the linters of other languages, which a machine may or may not have.
  execFileSync(actionlint, ['-no-color', '-shellcheck=', '-pyflakes=', ...files], { encoding: 'utf8', stdio: 'pipe' });
});
