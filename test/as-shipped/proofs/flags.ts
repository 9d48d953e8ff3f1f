import type { Proofs } from '../cases.ts';

const MANAGER = 'conformance/native/flags.ts';
const LIMITS = `${MANAGER}: a limit of requests`;
const CHECKS = 'conformance/native/checks.ts';
const NOTIFICATIONS = 'cluster/notifications.test.ts: each notification of a rollout arrives once';
/** The harness of each case sets these: test/cluster/manager.ts and test/cluster/agent.ts. */
const ANY_MANAGER = [LIMITS, 'c.startManager('] as const;
const AGENT = 'conformance/agent/serving.ts';
const HTTPS = `${AGENT}: HTTPS to callers`;
const ANY_AGENT = [HTTPS, 'withOwner('] as const;

export const managerFlags: Proofs = {
  '--kubeconfig': ANY_MANAGER,
  '--context': `${MANAGER}: a flag or a context that is not there`,
  '--controllers': LIMITS,
  '--namespaces': ['cluster/helm/rights.test.ts: managers of some namespaces have rights there', 'namespaces: ['],
  '--predownload': 'conformance/prefetch/ahead.ts: are pulled one node after the other where the manager is told to',
  '--first-wave': 'conformance/native/first-wave.ts: is what the manager is told for those that do not say',
  '--check-openkruise-lease': 'conformance/advanced/ownership.ts: a manager that is told not to look at the Lease',
  '--leader-elect': ['conformance/native/crash.ts: a leader that is asked to stop hands over', 'leaderElectionArgs'],
  '--leader-election-namespace': NOTIFICATIONS,
  '--leader-election-id': LIMITS,
  '--leader-election-lease-duration': [
    'conformance/native/crash.ts: a leader that is stopped past its lease',
    'leaderElectionArgs',
  ],
  '--leader-election-renew-deadline': [
    'conformance/native/crash.ts: a leader that is stopped past its lease',
    'leaderElectionArgs',
  ],
  '--leader-election-retry-period': NOTIFICATIONS,
  '--metrics-bind-address': ['conformance/native/metrics.ts: count what the manager does', 'read(c)'],
  '--health-probe-bind-address': [LIMITS, '/readyz'],
  '--kube-api-qps': LIMITS,
  '--kube-api-burst': LIMITS,
  '--notifications-config': NOTIFICATIONS,
  '--prometheus-address': `${CHECKS}: one is false as often as failureLimit`,
  '--allowed-check-addresses': `${CHECKS}: a Prometheus that hangs`,
  '--log-level': LIMITS,
  '--log-format': LIMITS,
};

export const agentFlags: Proofs = {
  '--kubeconfig': ANY_AGENT,
  '--context': `${AGENT}: nothing where the context`,
  '--node-name': ['conformance/agent/compatible.ts: the annotation of OpenYurt', 'node'],
  '--listen': ANY_AGENT,
  '--unix-socket': HTTPS,
  '--state-dir': ['conformance/agent/compatible.ts: offline and after a power cut', 'powerCut'],
  '--namespaces': ANY_AGENT,
  '--allow-user': HTTPS,
  '--token-file': HTTPS,
  '--tls-cert-file': HTTPS,
  '--tls-private-key-file': HTTPS,
  '--client-ca-file': HTTPS,
  '--allowed-host': HTTPS,
  '--safe-check': `${AGENT}: every route`,
  '--read-node': [
    'cluster/agent-rights/agent-rights.test.ts: an agent with the flag for it shows the sizes of images and the names',
    '--read-node',
  ],
  '--time-zone': ['conformance/agent/decisions.ts: for a later time waits', 'utc'],
  '--metrics-bind-address': `${AGENT}: every route`,
  '--health-probe-bind-address': ANY_AGENT,
  '--log-level': HTTPS,
  '--log-format': HTTPS,
};

const REACH = 'cluster/multicluster/reach.test.ts';
const REACH_FLAGS = `${REACH}: does what its flags say`;
const REACH_LEADS = `${REACH}: leaves a cluster with a label of its own alone`;
/** startReach of that file sets these for each case. */
const ANY_REACH = [REACH_FLAGS, 'startReach('] as const;

export const reachFlags: Proofs = {
  '--kubeconfig': ANY_REACH,
  '--context': REACH_FLAGS,
  '--settle-time': REACH_FLAGS,
  '--suspect-window': REACH_FLAGS,
  '--fleet-checkin-interval': REACH_FLAGS,
  '--fleet-offline-after': REACH_FLAGS,
  '--leader-elect': REACH_FLAGS,
  '--leader-election-namespace': REACH_LEADS,
  '--leader-election-id': REACH_LEADS,
  '--leader-election-lease-duration': REACH_LEADS,
  '--leader-election-renew-deadline': REACH_LEADS,
  '--leader-election-retry-period': REACH_LEADS,
  '--metrics-bind-address': [`${REACH}: counts clusters by their reach`, 'reach.metrics()'],
  '--health-probe-bind-address': [`${REACH}: is ready without the kinds of clusters`, 'reach.ready()'],
  '--log-level': REACH_FLAGS,
  '--log-format': REACH_FLAGS,
};

const PROXIES = 'cluster/notifications.test.ts: they go through the proxies';

const ON_TERMINAL = 'conformance/plugin/get.ts: -w draws on a terminal';

export const environment: Proofs = {
  KUBECONFIG: ['conformance/plugin/kubectl.ts: kubectl finds it', 'environmentOf'],
  CI: ON_TERMINAL,
  NO_COLOR: ON_TERMINAL,
  HTTP_PROXY: PROXIES,
  HTTPS_PROXY: PROXIES,
  NO_PROXY: PROXIES,
  NODE_NAME: ['nodes/cases/owners.ts: are made by curl', 'curl'],
};

const CONNECTION = 'conformance/plugin/connection.ts: each flag replaces';
const RIGHTS = 'conformance/plugin/kubectl.ts: a missing permission is reported';
const CERTIFICATE = 'conformance/plugin/connection.ts: a client certificate and its key';

export const connectionFlags: Proofs = {
  '--kubeconfig': CONNECTION,
  '--context': CONNECTION,
  '--namespace': CONNECTION,
  '--cluster': CONNECTION,
  '--user': CONNECTION,
  '--as': RIGHTS,
  '--as-group': RIGHTS,
  '--as-uid': RIGHTS,
  '--token': CONNECTION,
  '--client-certificate': CERTIFICATE,
  '--client-key': CERTIFICATE,
  '--server': CONNECTION,
  '--certificate-authority': CONNECTION,
  '--tls-server-name': CONNECTION,
  '--insecure-skip-tls-verify': CONNECTION,
  '--request-timeout': CONNECTION,
};
