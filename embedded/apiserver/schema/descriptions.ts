import { readFileSync } from 'node:fs';

/** By `Type` and `Type.field`. */
type Descriptions = ReadonlyMap<string, string>;

const MEMBER =
  /(?:\/\*\*((?:(?!\/\*\*)[\s\S])*)\*\/\s*)?^(?:export (?:interface|type) (\w+)| {4}(?:readonly )?"?([\w$-]+)"?\??:)/gm;

const textOf = (comment: string): string => comment.replaceAll(/^[ \t]*\*[ \t]?/gm, '').trim();

/** The comments on the types in a declaration file, and on their fields. */
const readDeclarations = (source: string): Descriptions => {
  const found = new Map<string, string>();
  let type = '';
  for (const [, comment = '', declared, field] of source.matchAll(MEMBER)) {
    if (declared !== undefined) type = declared;
    if (comment !== '') found.set(field === undefined ? type : `${type}.${field}`, textOf(comment));
  }
  return found;
};

/** The declarations of a group and version such as `core.v1`. A bundle has what they say in its own descriptions.txt. */
const loadDeclarations = (group: string): Descriptions => {
  try {
    const file = import.meta.resolve(`kubernetes-types/${group.replaceAll('.', '/')}.d.ts`);
    return readDeclarations(readFileSync(new URL(file), 'utf8'));
  } catch {
    return new Map();
  }
};

const beside = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

const groups = new Map<string, Descriptions>();
let ours: Descriptions | undefined;

/** Sentences of our own for what is newer than the release of kubernetes-types, or has no comment there. */
const loadOurs = (): Descriptions =>
  new Map(
    beside('./descriptions.txt')
      .trim()
      .split('\n')
      .map((line) => {
        const space = line.indexOf(' ');
        return [line.slice(0, space), line.slice(space + 1).replaceAll(String.raw`\n`, '\n')];
      }),
  );

/**
 * What `kubectl explain` says of a built-in type such as `core.v1.Pod`, or of one of its fields. The package
 * kubernetes-types carries the texts of Kubernetes' OpenAPI document as comments.
 */
export const descriptionOf = (type: string, field?: string): string | undefined => {
  const dot = type.lastIndexOf('.');
  const group = type.slice(0, dot);
  const member = field === undefined ? type.slice(dot + 1) : `${type.slice(dot + 1)}.${field}`;
  let declared = groups.get(group);
  if (!declared) {
    declared = loadDeclarations(group);
    groups.set(group, declared);
  }
  ours ??= loadOurs();
  return declared.get(member) ?? ours.get(`${group}.${member}`);
};

/** Everything that `descriptionOf` knows, in the form of descriptions.txt, for a bundle without kubernetes-types. */
export const descriptionTable = (): string => {
  const served = new Set(beside('./definitions.txt').match(/^[a-z][\w.]*(?=\.[A-Z])/gm));
  const declared = [...served, 'api.resource'].flatMap((group) =>
    [...loadDeclarations(group)].map(([member, text]) => [`${group}.${member}`, text] as const),
  );
  return [...loadOurs(), ...declared]
    .map(([name, text]) => `${name} ${text.replaceAll('\n', String.raw`\n`)}\n`)
    .join('');
};
