// Saves increasing numbers in the given directory, and prints each one as soon as it is acknowledged. Runs until it is killed.

import { writeSync } from 'node:fs';
import { openRegisterIn } from './register.ts';

const [, , dir = '', first = '0'] = process.argv;
const register = await openRegisterIn({ dir });
for (let value = Number(first); ; value += 1) {
  await register.put(`k${value % 3}`, value);
  writeSync(1, `${value}\n`);
}
