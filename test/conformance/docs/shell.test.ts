import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openShell } from './shell.ts';

const shellOf = (t: TestContext) => {
  const shell = openShell({ cwd: '/', env: { PATH: process.env.PATH ?? '', GREETING: 'hello' } });
  t.after(() => shell.close());
  return shell;
};

test('a block sees the variables of earlier ones, and returns only its own output', async (t) => {
  const shell = shellOf(t);
  assert.equal(await shell.run('name=world\necho "$GREETING"', 10_000), 'hello\n');
  assert.equal(await shell.run('cat <<EOF\n$name\nEOF', 10_000), 'world\n');
});

test('a failing command ends the shell with its output, also in a pipe', async (t) => {
  await assert.rejects(shellOf(t).run('echo before\nls /nonexistent | cat\necho after', 10_000), (error: Error) => {
    assert.match(error.message, /a command failed/);
    assert.match(error.message, /before/);
    assert.match(error.message, /nonexistent/);
    assert.doesNotMatch(error.message, /^after$/m);
    return true;
  });
});

test('commands that do not end time out', async (t) => {
  await assert.rejects(shellOf(t).run('sleep 100', 200), /not done within 200 ms/);
});
