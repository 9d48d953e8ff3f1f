import type { StoredObject } from '../../types.ts';
import { at, textOf } from '../value/index.ts';
import { type Column, nameColumn, text, wide } from './column.ts';
import { ageOf } from './duration.ts';

// Events are shown by both of their APIs: each column reads the names of either.
const either = (event: StoredObject, core: string, other: string): unknown => event[core] ?? event[other];

const about = (event: StoredObject): unknown => either(event, 'involvedObject', 'regarding');

const firstSeen = (event: StoredObject): string =>
  textOf(either(event, 'firstTimestamp', 'deprecatedFirstTimestamp')) || textOf(event.eventTime);

const lastSeen = (event: StoredObject): string =>
  textOf(at(event, 'series', 'lastObservedTime')) ||
  textOf(either(event, 'lastTimestamp', 'deprecatedLastTimestamp')) ||
  firstSeen(event);

const countOf = (event: StoredObject): number =>
  Number(at(event, 'series', 'count') ?? either(event, 'count', 'deprecatedCount') ?? 1);

const sourceText = (event: StoredObject): string => {
  const source = either(event, 'source', 'deprecatedSource');
  const component =
    textOf(at(source, 'component')) || textOf(either(event, 'reportingComponent', 'reportingController'));
  const host = textOf(at(source, 'host')) || textOf(event.reportingInstance);
  return host === '' ? component : `${component}, ${host}`;
};

export const eventColumns: readonly Column[] = [
  text('Last Seen', (event, now) => ageOf(lastSeen(event), now)),
  text('Type', (event) => textOf(event.type)),
  text('Reason', (event) => textOf(event.reason)),
  text('Object', (event) => `${textOf(at(about(event), 'kind')).toLowerCase()}/${textOf(at(about(event), 'name'))}`),
  wide('Subobject', (event) => textOf(at(about(event), 'fieldPath'))),
  wide('Source', sourceText),
  text('Message', (event) => textOf(either(event, 'message', 'note')).trim()),
  wide('First Seen', (event, now) => ageOf(firstSeen(event), now)),
  wide('Count', countOf),
  { ...nameColumn, priority: 1 },
];
