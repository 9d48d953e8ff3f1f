// Appends increasing numbers to the journal in the given directory, and prints each one as soon as it is acknowledged. Runs
// until it is killed.

import { writeSync } from 'node:fs';
import { openJournal } from '../journal.ts';
import { createRegister, testEnv } from './register.ts';

const [, , dir = '', first = '0'] = process.argv;
const state = createRegister();
const journal = await openJournal({ dir, name: 'register', env: testEnv, state, compactAtBytes: 300 });
for (let value = Number(first); ; value += 1) {
  await journal.append({ key: `k${value % 3}`, value });
  writeSync(1, `${value}\n`);
}
