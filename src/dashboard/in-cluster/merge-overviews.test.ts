import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createSubscribers, type Listener } from '../feed.ts';
import type { OverviewMessage } from '../messages.ts';
import { mergeOverviews } from './merge-overviews.ts';
import { rowOf } from './testing/stage.ts';

const feedOf = (namespace: string) => {
  let isKnown = false;
  const subscribers = createSubscribers<OverviewMessage>(() =>
    isKnown ? { type: 'rollouts', rows: [rowOf(namespace)] } : undefined,
  );
  return {
    subscribe: (listener: Listener<OverviewMessage>) => subscribers.subscribe(listener),
    publish: (message: OverviewMessage) => subscribers.publish(message),
    begin(): void {
      isKnown = true;
      subscribers.publish({ type: 'rollouts', rows: [rowOf(namespace)] });
    },
  };
};

it('several namespaces are one overview, once all of them are known', () => {
  const [shop, depot] = [feedOf('shop'), feedOf('depot')];
  const heard: OverviewMessage[] = [];
  const end = mergeOverviews([shop, depot]).subscribe((message) => heard.push(message));
  shop.begin();
  assert.equal(heard.length, 0);
  depot.begin();
  assert.deepEqual(heard, [{ type: 'rollouts', rows: [rowOf('shop'), rowOf('depot')] }]);
  const change: OverviewMessage = { type: 'change', rows: [], gone: ['shop/ds/web'] };
  shop.publish(change);
  assert.deepEqual(heard.slice(1), [change]);
  end();
  depot.publish(change);
  assert.equal(heard.length, 2);
  const late: OverviewMessage[] = [];
  mergeOverviews([shop, depot]).subscribe((message) => late.push(message));
  assert.deepEqual(late, heard.slice(0, 1));
});
