import { readFileSync } from 'node:fs';
import { anyShape, type Field, type ListShape, type ScalarType, type Shape } from './shape.ts';

const SCALARS = [
  'string',
  'boolean',
  'int32',
  'int64',
  'number',
  'bytes',
  'time',
  'microTime',
  'intOrString',
  'quantity',
] as const satisfies readonly ScalarType[];

const isScalar = (type: string): type is ScalarType => (SCALARS as readonly string[]).includes(type);
const scalars = new Map<ScalarType, Shape>(SCALARS.map((type) => [type, { form: 'scalar', type }]));

/** One line of definitions.txt: a name, its type, and notes such as `keys=type`. */
const readLine = (line: string): { name: string; words: string[]; note: (key: string) => string | undefined } => {
  const [name = '', ...words] = line.trim().split(' ');
  const notes = new Map(
    words.flatMap((word) => {
      const sign = word.indexOf('=');
      return sign < 0 ? [] : [[word.slice(0, sign), word.slice(sign + 1)] as const];
    }),
  );
  return { name, words, note: (key) => notes.get(key) };
};

// Defaults that the API server fills in before it compares list keys.
const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' };

const splitNote = (note: string | undefined): readonly string[] => note?.split(',') ?? [];

type Blocks = ReadonlyMap<string, readonly string[]>;

let blocks: Blocks | undefined;

/** Loaded lazily: starting a cluster doesn't need it. */
const table = (): Blocks => {
  if (blocks) return blocks;
  const found = new Map<string, string[]>();
  let fields: string[] = [];
  for (const line of readFileSync(new URL('./definitions.txt', import.meta.url), 'utf8').split('\n')) {
    if (line === '') continue;
    if (line.startsWith(' ')) fields.push(line);
    else {
      fields = [line];
      found.set(line.split(' ', 1)[0] ?? '', fields);
    }
  }
  blocks = found;
  return found;
};

const shapes = new Map<string, Shape>();

const typeShape = (type: string, note: (key: string) => string | undefined): Shape => {
  if (type.startsWith('[]')) {
    const listType = note('list');
    const keys = splitNote(note('keys'));
    const list: ListShape['list'] = listType === 'map' || listType === 'set' ? listType : 'atomic';
    const keyDefaults = Object.fromEntries(
      keys.flatMap((key) => (KEY_DEFAULTS[key] === undefined ? [] : [[key, KEY_DEFAULTS[key]]])),
    );
    return { form: 'list', of: typeShape(type.slice(2), () => undefined), list, keys, keyDefaults };
  }
  if (type.startsWith('{}'))
    return { form: 'map', of: typeShape(type.slice(2), () => undefined), atomic: note('map') === 'atomic' };
  if (isScalar(type)) return scalars.get(type) ?? anyShape;
  if (type === 'any' || type === 'json') return anyShape;
  return definitionShape(type);
};

/** A field of a built-in type. A class, so that all fields have one hidden class: each write reads their shapes. */
class DefinedField implements Field {
  readonly required: boolean;
  readonly strategies: readonly string[];
  readonly mergeKey: string | undefined;
  readonly number: string | undefined;
  readonly #type: string;
  readonly #note: (key: string) => string | undefined;
  #shape: Shape | undefined;

  constructor(required: boolean, type: string, note: (key: string) => string | undefined) {
    this.required = required;
    this.strategies = splitNote(note('patch'));
    this.mergeKey = note('key');
    this.number = note('#');
    this.#type = type;
    this.#note = note;
  }

  // Types are recursive, so fields resolve their shapes lazily.
  get shape(): Shape {
    this.#shape ??= typeShape(this.#type, this.#note);
    return this.#shape;
  }
}

const readField = (line: string): [string, Field] => {
  const { name, words, note } = readLine(line);
  const required = name.endsWith('!');
  return [required ? name.slice(0, -1) : name, new DefinedField(required, words[0] ?? 'any', note)];
};

/** The shape of a built-in type, by its name in definitions.txt such as `core.v1.Pod`. */
export const definitionShape = (name: string): Shape => {
  const known = shapes.get(name);
  if (known) return known;
  const [head, ...lines] = table().get(name) ?? [];
  if (head === undefined) throw new Error(`definitions.txt has no type ${name}`);
  const { note } = readLine(head);
  const shape: Shape =
    note('is') !== undefined
      ? anyShape
      : { form: 'struct', name, fields: new Map(lines.map(readField)), atomic: note('map') === 'atomic', open: false };
  shapes.set(name, shape);
  return shape;
};

let kinds: ReadonlyMap<string, string> | undefined;

/** The type of a kind such as `apps/v1/DaemonSet` or `v1/Pod`. */
export const definitionOfKind = (kind: string): string | undefined => {
  kinds ??= new Map(
    [...table()].flatMap(([name, [head = '']]) => {
      const of = readLine(head).note('kind');
      return of === undefined ? [] : [[of, name] as const];
    }),
  );
  return kinds.get(kind);
};
