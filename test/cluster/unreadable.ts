// Imported by a manager before its program: reading the labels of a Node with the annotation below throws.

const ANNOTATION = 'test.edgeset.io/unreadable';

interface Parsed {
  kind?: string;
  metadata?: { annotations?: Record<string, string> };
  object?: Parsed;
  items?: Parsed[];
}

const parse = JSON.parse.bind(JSON);

const spoil = (object: Parsed | null | undefined): void => {
  if (object?.metadata?.annotations?.[ANNOTATION] === undefined) return;
  Object.defineProperty(object.metadata, 'labels', {
    enumerable: true,
    get() {
      throw new RangeError('these labels cannot be read');
    },
  });
};

JSON.parse = (...args) => {
  const parsed = parse(...args) as Parsed | null;
  spoil(parsed?.object);
  if (Array.isArray(parsed?.items)) parsed.items.forEach(spoil);
  return parsed;
};
