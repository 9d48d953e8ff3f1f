import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { flagsAfterCommand, usageError } from './usage.ts';

const program = new Command('edgeset').version('1');
program.command('status').option('-n, --namespace <name>').option('--dry-run [mode]').option('-A, --all');
program.command('manager').option('--context <name>');

describe('flags before the command', () => {
  for (const [before, after] of [
    ['status web', 'status web'],
    ['-n shop status web -A', 'status -n shop web -A'],
    ['--namespace=shop -A --context c status', 'status --namespace=shop -A --context c'],
    ['--dry-run status web', 'status --dry-run web'],
    ['status -n=shop', 'status -n shop'],
    ['-nshop status -A', 'status -n shop -A'],
    ['--all=true status --all=false', 'status --all'],
    ['status -- --all=true', 'status -- --all=true'],
    ['manager --context=true --dry-run=false', 'manager --context=true --dry-run=false'],
    // Left alone, for commander to report or to handle.
    ['--version', '--version'],
    ['--bogus status', '--bogus status'],
    ['-n shop -- status', '-n shop -- status'],
    ['-n shop', ''],
    ['-n shop --help', '--help'],
    ['-A --version', '--version'],
    ['', ''],
  ] as const)
    it(`"${before}" means "${after}"`, () => {
      const words = before === '' ? [] : before.split(' ');
      assert.deepEqual(flagsAfterCommand(program, words), after === '' ? [] : after.split(' '));
    });
});

describe('an error of commander', () => {
  for (const [text, sentence] of [
    [
      "error: unknown command 'stauts'\n(Did you mean one of status, start?)",
      'unknown command "stauts": did you mean status or start? Run "x --help"',
    ],
    ["error: unknown option '-z'", 'unknown option "-z": run "x --help"'],
    [
      "error: option '-n, --namespace <name>' argument missing",
      '--namespace: the value is missing: give --namespace <name>',
    ],
    ["error: required option '--nodes <n>' not specified", '--nodes is required: give --nodes <n>'],
    [
      "error: command-argument value 'sh' is invalid for argument 'shell'. Allowed choices are bash, zsh.",
      'shell: "sh" is not valid: give bash or zsh',
    ],
    [
      "error: too many arguments for 'wait'. Expected 1 argument but got 2: a, b.",
      'too many arguments: expected 1 but got 2 (a, b): run "x --help"',
    ],
    ['error: something new', 'something new: run "x --help"'],
  ] as const)
    it(`is one sentence: ${sentence}`, () => assert.equal(usageError(`${text}\n`, 'x'), sentence));
});
