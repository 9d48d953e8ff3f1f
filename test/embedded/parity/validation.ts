import { DS, daemonSet, get, MERGE, PODS, patch, post, STRATEGIC } from './requests.ts';
import type { ApiCall } from './servers.ts';

const template = (labels: object) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
});

const SELECTORS = [
  ':::',
  'a=b:c',
  'a/b/c=d',
  '-a',
  'a=-b',
  'a in (b,:)',
  '!:::',
  'a=b,:::=c',
  '/a=b',
  'a>1',
  'a>x',
  `a=${'x'.repeat(64)}`,
];

/** What the server refuses: numbers that must not be negative, malformed selectors, unknown fields of a status. */
export const validationCalls: readonly ApiCall[] = [
  post(DS, daemonSet('bad', { minReadySeconds: -1 })),
  post(DS, daemonSet('bad', { revisionHistoryLimit: -1 })),
  post(DS, daemonSet('bad', { minReadySeconds: -1, revisionHistoryLimit: -1 })),
  post(DS, daemonSet('bad', { selector: { matchLabels: { ':::': 'x' } }, template: template({ ':::': 'x' }) })),
  post(DS, daemonSet('bad', { selector: { matchLabels: { app: ':::' } }, template: template({ app: ':::' }) })),
  post(DS, daemonSet('bad', { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: [] }] } })),
  post(DS, daemonSet('bad', { selector: { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['x'] }] } })),
  post(DS, daemonSet('bad', { selector: { matchExpressions: [{ key: 'app', operator: 'Near', values: ['x'] }] } })),
  post(DS, daemonSet('bad', { selector: { matchExpressions: [{ key: ':::', operator: 'Exists' }] } })),
  post(DS, daemonSet('bad', { updateStrategy: { rollingUpdate: { maxUnavailable: -1 } } })),
  post(DS, daemonSet('bad', { updateStrategy: { rollingUpdate: { maxUnavailable: 'x%' } } })),
  post(DS, daemonSet('bad', { updateStrategy: { rollingUpdate: { maxUnavailable: '101%' } } })),
  post(DS, daemonSet('good', { minReadySeconds: 0 })),
  patch(MERGE, `${DS}/good`, { spec: { minReadySeconds: -5 } }),
  ...SELECTORS.map((selector) => get(`${PODS}?labelSelector=${encodeURIComponent(selector)}`)),
  ...SELECTORS.slice(0, 2).map((selector) => get(`${PODS}?watch=1&labelSelector=${encodeURIComponent(selector)}`)),
  patch(MERGE, `${DS}/good/status?fieldValidation=Strict`, { status: { numberReady: 1 } }),
  patch(STRATEGIC, `${DS}/good/status?fieldValidation=Strict`, { status: { nope: 1 } }),
  patch(STRATEGIC, `${DS}/good/status?fieldValidation=Strict`, {
    status: { conditions: [{ type: 'Ready', status: 'True', nope: 1 }] },
  }),
  patch(MERGE, `${DS}/good/status`, { status: { conditions: [{ type: 'B', status: 'True' }] } }),
  patch(STRATEGIC, `${DS}/good/status`, { status: { conditions: [{ type: 'A', status: 'True' }] } }),
  patch(STRATEGIC, `${DS}/good/status`, {
    status: {
      conditions: [
        { type: 'C', status: 'True' },
        { type: 'B', status: 'False' },
      ],
    },
  }),
  get(`${DS}/good`),
];
