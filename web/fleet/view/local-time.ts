import { clusterNow } from '../clock.ts';
import { text } from '../text/index.ts';

// Made once: to make one is slow.
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(text.language, options);
const ofDay = format(clock);
const withDay = format({ month: 'short', day: 'numeric', ...clock });
const withAll = format({ dateStyle: 'full', timeStyle: 'long' });

/** As the viewer's clock shows it: `14:30`, with the day unless that is today. */
export const localTime = (at: number, now = clusterNow()): string =>
  (new Date(at).toDateString() === new Date(now).toDateString() ? ofDay : withDay).format(at);

/** With day, seconds and time zone, for a title. */
export const fullTime = (time: string | undefined): string => (time ? withAll.format(Date.parse(time)) : '');

/** The sentences of the manager have the times of the cluster, in UTC. */
export const withLocalTimes = (said: string, now = clusterNow()): string =>
  said.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => localTime(Date.parse(time), now));
