import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runEdgeset } from './edgeset-command.ts';
import { DemoFailure } from './environment.ts';

test('a command that fails fails the demo, with what it printed', async () => {
  await assert.rejects(
    runEdgeset(['undo', 'ds/checkout'], { kubeconfig: '/does/not/exist', random: () => 0 }),
    (error) =>
      error instanceof DemoFailure &&
      /^expected "kubectl edgeset undo ds\/checkout" to succeed; saw .*\/does\/not\/exist/.test(error.message),
  );
});
