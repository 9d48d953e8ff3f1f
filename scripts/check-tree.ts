// Checks the tree for what no linter sees: addresses and paths that must not be published, dead links in the documentation,
// and errors that bear another name than their class.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

export interface Violation {
  file: string;
  line: number;
  message: string;
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const anyOf = (words: readonly string[]): string => words.map(escape).join('|');

// Put together here, so that this file passes its own check.
const KNOWN_REGISTRIES = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['npm', 'pkg', 'github', 'com'],
  ['proxy', 'golang', 'org'],
  ['sum', 'golang', 'org'],
].map((labels) => labels.join('.'));

/** The hosts in a setting like GOPROXY: `https://a.example,direct` names one. */
const hostsIn = (setting: string): string[] =>
  setting
    .split(/[,|\s]/)
    .flatMap((part) => (URL.canParse(part) ? [new URL(part).hostname] : []))
    .filter((host) => host.includes('.') && !/^(localhost|127\.|\[?::1)/.test(host));

/** What belongs to the machine that runs the check, and to no file. */
export interface Machine {
  /** Absolute paths: the checkout and the user's home. */
  paths: readonly string[];
  /** Values of the settings that name package registries and module proxies. */
  registries: readonly string[];
}

/** Returns a function that finds what must not be published in one file. */
export const leakFinder = ({ paths, registries }: Machine): ((file: string, text: string) => Violation[]) => {
  // A checkout in `/` or `/tmp` is no telling prefix; only paths of two parts or more are.
  const ownPaths = paths.filter((each) => each.split('/').filter(Boolean).length > 1);
  const rules = [
    {
      files: /./,
      pattern: new RegExp(`(?<![\\w-])(${anyOf([...KNOWN_REGISTRIES, ...registries.flatMap(hostsIn)])})`, 'i'),
      message: 'names a package registry: leave the choice to the configuration of the machine that installs',
    },
    {
      files: /(^|\/)package-lock\.json$/,
      // A package of this repository has its folder there.
      pattern: /^\s*"resolved": "[^"]*:/,
      message: 'carries an address: `npm install` writes none while .npmrc says omit-lockfile-registry-resolved',
    },
    {
      files: /(^|\/)\.npmrc$/,
      pattern: /^\s*(\/\/|(@[^:]+:)?registry\s*=|.*_auth)/,
      message: 'sets a registry or credentials: they belong in your own .npmrc',
    },
    {
      files: /./,
      pattern: /(?<![\w.~$}-])\/(home|root|Users|work(space)?|builds)\/[\w.-]/,
      message: "names a path of somebody's machine: use one relative to the repository or a temporary folder",
    },
    {
      // The linter cannot tell it from `new Date(ms)`.
      files: /^(src|embedded)\/(?!.*\.test\.ts$).*\.ts$/,
      pattern: /\bnew Date\(\)|(?<!new )\bDate\(\)/,
      message: 'asks the machine for the time: take it from Env.clock',
    },
    ...ownPaths.map((own) => ({
      files: /./,
      pattern: new RegExp(`${escape(own)}(?![\\w-])`),
      message: "names this checkout's or this user's folder: use a path relative to the repository",
    })),
  ];
  return (file, text) => {
    if (text.includes('\0')) return [];
    const applicable = rules.filter(({ files }) => files.test(file));
    return text
      .split('\n')
      .flatMap((content, index) =>
        applicable
          .filter(({ pattern }) => pattern.test(content))
          .map(({ message }) => ({ file, line: index + 1, message })),
      );
  };
};

export interface Tree {
  exists(file: string): boolean;
  read(file: string): string;
}

const withoutCode = (text: string): string =>
  text.replaceAll(/^```.*?^```/gms, (block) => block.replaceAll(/[^\n]/g, ''));

/** The anchor that GitHub gives a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const anchorsOf = (text: string): Set<string> =>
  new Set([...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)));

/** Finds links of a Markdown page to a file that does not exist, or to a heading that the file does not have. */
export const deadLinks = (file: string, tree: Tree): Violation[] =>
  withoutCode(tree.read(file))
    .split('\n')
    .flatMap((content, index) =>
      [...content.matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)].flatMap(([, written, image]): Violation[] => {
        const link = written ?? image ?? '';
        if (/^[a-z][a-z+.-]*:/i.test(link)) return [];
        const [to = '', anchor] = link.split('#', 2);
        const target = to === '' ? file : path.posix.join(path.posix.dirname(file), to);
        const line = index + 1;
        if (!tree.exists(target)) return [{ file, line, message: `links to ${link}: ${target} does not exist` }];
        if (anchor === undefined || anchorsOf(tree.read(target)).has(anchor)) return [];
        return [{ file, line, message: `links to ${link}: ${target} has no such heading` }];
      }),
    );

/**
 * Finds pages that the index of the documentation leaves out. A folder beside a page of the same name has that page as its
 * index. Decisions and runbooks are listed by their folders.
 */
export const unlistedPages = (files: readonly string[], index: string, tree: Pick<Tree, 'read'>): Violation[] => {
  const folder = path.posix.dirname(index);
  const linkedFrom = (page: string): Set<string> =>
    new Set(
      [...tree.read(page).matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) =>
        path.posix.join(path.posix.dirname(page), link),
      ),
    );
  return files
    .filter((file) => file.startsWith(`${folder}/`) && file.endsWith('.md') && file !== index)
    .flatMap((file) => {
      const parent = path.posix.dirname(file);
      const listing = files.includes(`${parent}.md`) ? `${parent}.md` : index;
      const linked = linkedFrom(listing);
      return linked.has(file) || linked.has(`${parent}/`)
        ? []
        : [{ file, line: 1, message: `is not in ${listing}: add it there, with a sentence` }];
    });
};

/**
 * Finds classes of errors whose instances don't carry the name of the class: a log would show "Error", or the name of
 * another class. The name is a literal, because a bundle may rename the class.
 */
export const misnamedErrors = (file: string, text: string): Violation[] => {
  const lines = text.split('\n');
  const classes = lines.flatMap((content, index) => {
    const [, name, parent = ''] = /^\s*(?:export )?class (\w+)(?:<.*>)? extends (\w+)/.exec(content) ?? [];
    return name === undefined ? [] : [{ name, parent, index }];
  });
  const errors = new Set<string>();
  return classes.flatMap(({ name, parent, index }): Violation[] => {
    if (!/Error$|^DOMException$/.test(parent) && !errors.has(parent)) return [];
    errors.add(name);
    const indent = /^\s*/.exec(lines[index] ?? '')?.[0] ?? '';
    const end = lines.findIndex(
      (content, at) => at >= index && (content.startsWith(`${indent}}`) || content.endsWith('{}')),
    );
    const body = lines.slice(index, end).join('\n');
    return new RegExp(`\\bname(: string)? = '${name}';`).test(body)
      ? []
      : [{ file, line: index + 1, message: `extends ${parent}: its name must be '${name}'` }];
  });
};

if (import.meta.main) {
  // New files that git does not ignore count too, so that a violation shows before it is committed.
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = [...new Set(listed.split('\0'))].filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  const { npm_config_registry, NPM_CONFIG_REGISTRY, GOPROXY, GOSUMDB } = process.env;
  const leaks = leakFinder({
    paths: [process.cwd(), homedir()],
    registries: [npm_config_registry, NPM_CONFIG_REGISTRY, GOPROXY, GOSUMDB].filter((setting) => setting !== undefined),
  });
  const read = (file: string): string => readFileSync(file, 'utf8');
  const violations = files.flatMap((file) => [
    ...leaks(file, read(file)),
    ...(file.endsWith('.md') ? deadLinks(file, { exists: existsSync, read }) : []),
    ...(/\.tsx?$/.test(file) ? misnamedErrors(file, read(file)) : []),
  ]);
  violations.push(...unlistedPages(files, 'docs/README.md', { read }));
  for (const { file, line, message } of violations) console.error(`${file}:${line} ${message}`);
  if (violations.length > 0) process.exitCode = 1;
}
