/**
 * Outlives the process that starts it, to kill programs that this process can no longer stop: reads `+<pid>` and `-<pid>`
 * lines on stdin, and when stdin closes (its owner has died or is done) kills the listed programs and removes the folder
 * named by its argument. It sends SIGKILL, because a test cluster needs no orderly shutdown.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const alive = new Set<number>();
for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1));
  if (line.startsWith('+')) alive.add(pid);
  else alive.delete(pid);
}
for (const pid of alive) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited already.
  }
}
const dir = process.argv[2];
// Retries: a killed program may still be writing.
if (dir) rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
