import type { Proofs } from '../cases.ts';

const PLUGIN = 'conformance/plugin';
const CONTROL = `${PLUGIN}/control.ts`;
const DECISIONS = `${PLUGIN}/decisions.ts: stages are approved and promoted by name`;
const SET = `${PLUGIN}/decisions.ts: set changes the budget and the partition`;
const COVERAGE = `${CONTROL}: wait reaches a coverage`;
const PLAN = `${CONTROL}: plan predicts what a manager then does`;
const PAUSE = `${CONTROL}: pause stops, resume continues`;
const HISTORY = `${PLUGIN}/undo.ts: undo restores the whole template`;
const CHOSEN = `${PLUGIN}/undo.ts: undo goes to the named revision`;
const ADVANCED_UNDO = `${PLUGIN}/advanced-undo.ts: history lists images and change causes`;
const FLAGS = `${PLUGIN}/kubectl.ts: flags may stand before the command`;
const PACKAGE = 'package/package.test.ts';
const LOGIN = 'browser/login.test.ts: asks for a token';
const SERVED = 'cluster/dashboard.test.ts: is told where and what to serve';

export const commands: Proofs = {
  status: `${PLUGIN}/kubectl.ts: kubectl finds it`,
  'status --all-namespaces': SET,
  'status --selector': SET,
  'status --output': SET,
  'status --watch': `${PLUGIN}/kubectl.ts: status -w appends each change`,
  'status --contexts': `${PLUGIN}/connection.ts: several contexts are shown side by side`,
  get: SET,
  'get --phase': SET,
  'get --output': SET,
  'get --watch': [`${PLUGIN}/get.ts: -w shows each change of a rollout`, 'follow('],
  dashboard: ['browser/dashboard.test.ts: shows the fleet, why a version was halted', 'page'],
  'dashboard --all-namespaces': SERVED,
  'dashboard --port': SERVED,
  'dashboard --no-browser': SERVED,
  'dashboard --contexts': ['browser/clusters.test.ts: shows each rollout under its cluster', 'region(AWAY)'],
  'dashboard --listen': SERVED,
  'dashboard --namespaces': SERVED,
  'dashboard --allowed-host': SERVED,
  'dashboard --tls-cert-file': [LOGIN, 'origin'],
  'dashboard --tls-private-key-file': [LOGIN, 'origin'],
  'dashboard --insecure-http': SERVED,
  'dashboard --trusted-proxies': SERVED,
  'dashboard --health-probe-bind-address': SERVED,
  'dashboard --metrics-bind-address': [LOGIN, 'metric('],
  'dashboard --log-level': SERVED,
  'dashboard --log-format': SERVED,
  explain: SET,
  'explain --node': `${PLUGIN}/explain.ts: says why there is nothing to explain`,
  'explain --phase': SET,
  'explain --all': SET,
  'explain --output': SET,
  plan: PLAN,
  'plan --max-unavailable': PLAN,
  'plan --partition': PLAN,
  'plan --node-selector': PLAN,
  'plan --unpaused': `${PLUGIN}/advanced.ts: an in-place update is planned as one`,
  'plan --output': SET,
  wait: COVERAGE,
  'wait --timeout': `${CONTROL}: wait right after an edit waits for that edit`,
  'wait --coverage': COVERAGE,
  'wait --include-offline': COVERAGE,
  pause: PAUSE,
  'pause --dry-run': PAUSE,
  'pause --output': FLAGS,
  resume: PAUSE,
  'resume --dry-run': SET,
  'resume --output': SET,
  set: SET,
  'set --max-unavailable': SET,
  'set --partition': SET,
  'set --dry-run': SET,
  'set --output': SET,
  approve: DECISIONS,
  'approve --stage': DECISIONS,
  'approve --comment': DECISIONS,
  'approve --dry-run': DECISIONS,
  'approve --output': DECISIONS,
  promote: DECISIONS,
  'promote --stage': DECISIONS,
  'promote --comment': DECISIONS,
  'promote --dry-run': DECISIONS,
  'promote --output': DECISIONS,
  history: FLAGS,
  'history --revision': HISTORY,
  'history --output': [FLAGS, '-o=json'],
  undo: CHOSEN,
  'undo --to-revision': CHOSEN,
  'undo --dry-run': ADVANCED_UNDO,
  'undo --output': DECISIONS,
  crds: `${PLUGIN}/kubectl.ts: the plugin prints the definitions`,
  'crds --controllers': `${PLUGIN}/kubectl.ts: the plugin prints the definitions`,
  completion: `${PACKAGE}: has everything that it promises`,
};
