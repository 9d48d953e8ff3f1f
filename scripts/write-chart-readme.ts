// Writes the table of values in the chart's README from the comments of values.yaml: npm run generate

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';

const chart = path.join(import.meta.dirname, '..', 'charts', 'edgeset');

export const README_FILE = path.join(chart, 'README.md');

export interface ChartValue {
  path: string;
  default: unknown;
  description: string;
}

/** Of a comment with several paragraphs, the last one is about the key after it. */
const lastParagraph = (comment: string): string => comment.split(/\n\s*\n/).at(-1) ?? '';

/** The comment before each key of a map; the parser gives the one before the first key to the map. */
const described = (map: YAMLMap): { key: string; value: unknown; comment: string }[] =>
  map.items.map(({ key, value }, index) => {
    if (!isScalar(key)) throw new Error('values.yaml has a key that is no text');
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : '') ?? '';
    return { key: String(key.value), value, comment: lastParagraph(comment).replaceAll(/\s+/g, ' ').trim() };
  });

const hasComments = (value: unknown): boolean =>
  isMap(value) && described(value).some((each) => each.comment !== '' || hasComments(each.value));

/** The values below a map. A map without comments is a value itself. */
const valuesIn = (map: YAMLMap, prefix: string): ChartValue[] =>
  described(map).flatMap(({ key, value, comment }): ChartValue[] => {
    if (isMap(value) && hasComments(value)) return valuesIn(value, `${prefix}${key}.`);
    const standard: unknown = isScalar(value) ? value.value : (value as YAMLMap).toJSON();
    return [{ path: `${prefix}${key}`, default: standard, description: comment }];
  });

/** The values of values.yaml, in its order. */
export const chartValues = (): ChartValue[] => {
  const { contents } = parseDocument(readFileSync(path.join(chart, 'values.yaml'), 'utf8'));
  if (!isMap(contents)) throw new Error('values.yaml is no map');
  return valuesIn(contents, '');
};

const row = ({ path: value, default: standard, description }: ChartValue): string =>
  `| \`${value}\` | \`${JSON.stringify(standard)}\` | ${description.replaceAll('|', String.raw`\|`)} |`;

const TABLE = /(<!-- values -->\n)[^]*(<!-- end of values -->)/;

/** The README with its table in step with values.yaml. */
export const renderChartReadme = (readme = readFileSync(README_FILE, 'utf8')): string => {
  const table = ['| value | default | |', '|---|---|---|', ...chartValues().map(row)].join('\n');
  return readme.replace(TABLE, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
};

if (import.meta.main) writeFileSync(README_FILE, renderChartReadme());
