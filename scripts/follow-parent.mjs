// Preloaded into what npm and npx start: ends it, by SIGTERM, when they are gone. npm passes SIGTERM on to the shell
// between it and us, and that shell dies without telling its child; a killed npm tells nobody anything.

import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const POLL_MS = 250;

/** Where there is no /proc, only the death of the direct parent is seen. */
const parentOf = (pid) => {
  try {
    // "pid (name) state ppid ...": the name may hold anything, also parentheses.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) . /s, '')
      .split(' ', 1)[0];
  } catch {
    return undefined;
  }
};

if (isMainThread) {
  const parent = process.ppid;
  const grandparent = parentOf(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && parentOf(parent) === grandparent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, POLL_MS);
  timer.unref();
}
