// Keeps out of the tree what must never be published or left behind: registry addresses, paths of somebody's machine,
// unfinished work, and source files too long to read in one go.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { reportViolations, type Violation } from './violation.ts';

const LONGEST_SOURCE_FILE = 400;

/** What belongs to the machine that runs the check, and to no file. */
export interface Machine {
  /** Absolute paths: the checkout and the user's home. */
  paths: readonly string[];
  /** Values of the settings that name package registries and module proxies. */
  registries: readonly string[];
}

interface Rule {
  appliesTo: (file: string) => boolean;
  pattern: RegExp;
  message: string;
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const anyOf = (words: readonly string[]): string => words.map(escape).join('|');
const isLockfile = (file: string): boolean => /(^|\/)(package-lock\.json|go\.sum)$/.test(file);
const everywhere = (): boolean => true;

// Hosts and words are put together here, so that this file passes its own check.
const KNOWN_REGISTRIES = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['npm', 'pkg', 'github', 'com'],
  ['proxy', 'golang', 'org'],
  ['sum', 'golang', 'org'],
].map((labels) => labels.join('.'));
const UNFINISHED = [
  ['TO', 'DO'],
  ['FIX', 'ME'],
  ['X', 'XX'],
].map((parts) => parts.join(''));

const LOOPBACK = /^(localhost|127\.|\[::1\]|::1$)/;

/** The hosts in a setting like GOPROXY: `https://a.example,direct` names one. */
const hostsIn = (setting: string): string[] =>
  setting
    .split(/[,|\s]/)
    .flatMap((part) => (URL.canParse(part) ? [new URL(part).hostname] : []))
    .filter((host) => host.includes('.') && !LOOPBACK.test(host));

const rulesFor = (machine: Machine): Rule[] => {
  // A checkout in `/` or `/tmp` makes no telling prefix: only paths of two parts or more do.
  const ownPaths = machine.paths.filter((each) => each.split('/').filter(Boolean).length > 1);
  const rules: Rule[] = [
    {
      appliesTo: everywhere,
      pattern: new RegExp(`(?<![\\w-])(${anyOf([...KNOWN_REGISTRIES, ...machine.registries.flatMap(hostsIn)])})`, 'i'),
      message: 'names a package registry: leave the choice to the configuration of whoever installs',
    },
    {
      appliesTo: (file) => file.endsWith('package-lock.json'),
      pattern: /^\s*"resolved":/,
      message: 'carries an address: `npm install` with .npmrc in place (omit-lockfile-registry-resolved) writes none',
    },
    {
      appliesTo: (file) => file.endsWith('.npmrc'),
      pattern: /^\s*(\/\/|(@[^:]+:)?registry\s*=|.*_auth)/,
      message: 'sets a registry or credentials: they belong into the user’s own .npmrc',
    },
    {
      appliesTo: everywhere,
      pattern: /(?<![\w.~$}-])\/(home|root|Users|work(space)?|builds)\/[\w.-]/,
      message: "names a path of somebody's machine: use one relative to the repository or a temporary folder",
    },
    {
      appliesTo: (file) => !isLockfile(file),
      pattern: new RegExp(`\\b(${anyOf(UNFINISHED)})\\b`),
      message: 'marks unfinished work: finish it or open an issue',
    },
  ];
  if (ownPaths.length > 0) {
    rules.push({
      appliesTo: everywhere,
      pattern: new RegExp(`(${anyOf(ownPaths)})(?![\\w-])`),
      message: "names this checkout's or this user's folder: use a path relative to the repository",
    });
  }
  return rules;
};

const isSource = (file: string): boolean => /^(src|bin|scripts)\/.*\.(ts|tsx|mjs)$/.test(file);

/** A checker for files of a tree on `machine`; each call judges one file. */
export const treeChecker = (machine: Machine): ((file: string, text: string) => Violation[]) => {
  const rules = rulesFor(machine);
  return (file, text) => {
    if (text.includes('\0')) return [];
    const lines = text.split('\n');
    const applicable = rules.filter((rule) => rule.appliesTo(file));
    const found = lines.flatMap((content, index) =>
      applicable
        .filter((rule) => rule.pattern.test(content))
        .map((rule) => ({ file, line: index + 1, message: rule.message })),
    );
    const length = text.endsWith('\n') ? lines.length - 1 : lines.length;
    if (isSource(file) && length > LONGEST_SOURCE_FILE) {
      const message = `has ${length} lines: split it by responsibility, ${LONGEST_SOURCE_FILE} is the limit`;
      found.push({ file, line: LONGEST_SOURCE_FILE + 1, message });
    }
    return found;
  };
};

/** Tracked files and new ones that git does not ignore: a breach is seen before it is committed. */
const filesOfTree = (): string[] => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(listed.split('\0'))].filter(Boolean);
};

/** A file that is deleted but not yet committed so is listed and absent. */
const readIfPresent = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR'))
      return undefined;
    throw error;
  }
};

if (import.meta.main) {
  const { env } = process;
  const check = treeChecker({
    paths: [process.cwd(), homedir()],
    registries: [env.npm_config_registry, env.NPM_CONFIG_REGISTRY, env.GOPROXY, env.GOSUMDB].filter(
      (setting) => setting !== undefined,
    ),
  });
  reportViolations(
    filesOfTree().flatMap((file) => {
      const text = readIfPresent(file);
      return text === undefined ? [] : check(file, text);
    }),
  );
}
