import type { ReachCause, ReachDecision } from './reach-of.ts';

const texts: Readonly<Record<ReachCause, (cluster: string, update: string) => string>> = {
  available: (cluster) => `cluster ${cluster} is online`,
  returned: (cluster) => `cluster ${cluster} is back, and is settling`,
  'went-away': (cluster) => `cluster ${cluster} is away, and no recent update explains it`,
  'never-seen': (cluster) => `cluster ${cluster} has never reported, and counts as away`,
  'soon-after-update': (cluster, update) =>
    `cluster ${cluster} went away soon after ${update} was changed: it is a suspect, and holds its ring`,
  'failed-update': (cluster, update) =>
    `cluster ${cluster} went away after ${update} had failed there: it is a suspect, and holds its ring`,
  'still-suspect': (cluster, update) =>
    `cluster ${cluster} is still away, and has not finished ${update}: it stays a suspect, and holds its ring`,
  'unknown-update-time': (cluster, update) =>
    `cluster ${cluster} is away and has not finished ${update}, whose managedFields do not say when it was changed: ` +
    'it is a suspect, and holds its ring',
};

/** What the log says of a cluster whose label changes. */
export const describeChange = (cluster: string, { cause, update }: ReachDecision): string =>
  texts[cause](cluster, update?.name ?? 'an update');
