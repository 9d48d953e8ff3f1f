// Every parser of text that others write. `index.test.ts` throws a megabyte of each hostile shape at each of them.

import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { parseDecision } from '../../src/agent/decisions/parse-decision.ts';
import { parseTarget } from '../../src/agent/http/route.ts';
import { sanitizePod } from '../../src/agent/pods/sanitize.ts';
import { firstLine } from '../../src/agent/safe-check/answer.ts';
import { urlProblem } from '../../src/agent/safe-check/url.ts';
import { unseal } from '../../src/agent/storage/files.ts';
import { releaseNotesOf } from '../../src/agent/updates/release-notes.ts';
import { parseAddress, shownAddress } from '../../src/checks/address.ts';
import { readAnswer } from '../../src/checks/answer.ts';
import { compileCondition } from '../../src/checks/condition.ts';
import { fillInQuery, placeholderProblem } from '../../src/checks/placeholders.ts';
import { readGoal } from '../../src/cli/plugin/wait-goal.ts';
import { usageError } from '../../src/cli/usage.ts';
import { diffTemplates } from '../../src/commands/history/template-diff.ts';
import { clientOf, parseProxies } from '../../src/dashboard/client-address.ts';
import { readCommand } from '../../src/dashboard/commands.ts';
import { checkCa } from '../../src/http/tls-files.ts';
import { parseAdvancedPolicy } from '../../src/kinds/advanced/api/policy.ts';
import { impliedPullPolicies } from '../../src/kinds/advanced/inplace/pull-policy.ts';
import { grants, qosOf } from '../../src/kinds/advanced/inplace/resources.ts';
import { parseFinished } from '../../src/kinds/advanced/placement/failed-pod-backoff.ts';
import { serverText } from '../../src/kube/client/errors.ts';
import { compareVersions } from '../../src/kube/client/formats.ts';
import { namespaceOf } from '../../src/kube/client/resource.ts';
import { errorFromStatus, parseRetryAfter } from '../../src/kube/client/status.ts';
import { configFromFlags } from '../../src/kube/config/overrides.ts';
import { proxyFromEnvironment } from '../../src/kube/config/proxy-from-environment.ts';
import { truncateNote } from '../../src/kube/events/event-series.ts';
import { unknownPlaceholders } from '../../src/notify/template.ts';
import { hostHeader, parseBindAddress } from '../../src/process/flags.ts';
import { readAffinity } from '../../src/rollout/facts/affinity.ts';
import { fullImageName } from '../../src/rollout/facts/image-name.ts';
import { imageFactsOf } from '../../src/rollout/facts/image-ready.ts';
import { imageReportsOf, parseImageId } from '../../src/rollout/facts/image-reports.ts';
import { announcedRevision, approvedRevision } from '../../src/rollout/facts/need-upgrade.ts';
import { readNodeImages } from '../../src/rollout/facts/node-images.ts';
import { readInPlaceState, withoutStaleStatuses } from '../../src/rollout/facts/openkruise.ts';
import { shorten } from '../../src/rollout/facts/pod-trouble.ts';
import { parseQuantity } from '../../src/rollout/facts/quantity.ts';
import { makeRequirement } from '../../src/rollout/facts/requirement.ts';
import { fromLabelSelector, parseRequirements, parseSelector } from '../../src/rollout/facts/selector.ts';
import { templateDigest } from '../../src/rollout/facts/template.ts';
import { templateOrigin } from '../../src/rollout/facts/template-origin.ts';
import { parseDate } from '../../src/rollout/plan/calendar.ts';
import { canonicalTimeZone } from '../../src/rollout/plan/window.ts';
import { parseIntOrPercent } from '../../src/rollout/policy/int-or-percent.ts';
import { parsePolicy, readOtaTerms, readStrategy } from '../../src/rollout/policy/policy.ts';
import * as values from '../../src/rollout/policy/values.ts';
import { createLogger } from '../../src/runtime/log.ts';
import { parseDuration } from '../../src/runtime/options.ts';
import { escapeLine, toMessage } from '../../src/text/escape.ts';
import { parseYaml, plainText } from '../../src/text/index.ts';
import { columnsOf } from '../../src/view/columns.ts';
import { readImage } from '../../src/view/image-name.ts';
import { readKind, readName, readNames } from '../../src/view/kinds/names.ts';
import { cut } from '../../src/words/daemon-rollout.ts';
import { IN_PLACE_STATE } from '../../src/words/index.ts';
import { knownKeys } from '../../src/words/keys.ts';

const pod = (type: string, message: string): Pod => ({
  status: { conditions: [{ type, status: 'True', reason: 'PullImageFail', message }] },
});
const annotated = (text: string): Pod => ({ metadata: { annotations: { [IN_PLACE_STATE]: text } } });
const spec = (image: string) => ({ containers: [{ name: 'app', image }] });
const inPlace = JSON.stringify({
  revision: 'a',
  updateTimestamp: 'b',
  lastContainerStatuses: { app: { imageID: '', containerID: '' } },
});
const log = createLogger({ write: () => undefined, now: () => 0, format: 'text' });
const sample = (value: string): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, value] } });
const all = (text: string): Record<string, string> => Object.fromEntries([...knownKeys].map((key) => [key, text]));

/** By the name of the function that is exported. */
export const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  readAnswer: (text) => [readAnswer(text), readAnswer(sample(text))],
  parseAddress: (text) => [parseAddress(text), parseAddress(`http://a/${text}`)],
  shownAddress: (text) => [shownAddress(text), shownAddress(`http://${text}`)],
  compileCondition,
  placeholderProblem,
  fillInQuery: (text) =>
    fillInQuery(`${text}$\{stage}`, {
      namespace: text,
      daemonSet: '',
      revision: '',
      previousRevision: '',
      stage: text,
    } as never),
  parseIntOrPercent,
  readThreshold: values.readThreshold,
  readFirstWave: values.readFirstWave,
  readRecreate: values.readRecreate,
  readBoolean: values.readBoolean,
  readOnFailure: values.readOnFailure,
  readOnImageDrift: values.readOnImageDrift,
  readStrategyName: values.readStrategyName,
  readPredownload: values.readPredownload,
  readNodeSelector: values.readNodeSelector,
  readTopologyKey: values.readTopologyKey,
  readParallelism: values.readParallelism,
  readResume: values.readResume,
  readDeadline: values.readDeadline,
  readPlanName: values.readPlanName,
  readSpread: values.readSpread,
  readHash: values.readHash,
  readShare: values.readShare('how many'),
  readSeconds: values.readSeconds(0),
  parsePolicy: (text) => parsePolicy({ annotations: all(text), updateStrategyType: text, minReadySeconds: 0 }),
  parseAdvancedPolicy: (text) => parseAdvancedPolicy({} as never, all(text), text),
  readStrategy: (text) => readStrategy(all(text), [], []),
  readOtaTerms: (text) => readOtaTerms({ ...all(text), [`edgeset.io/${text}`]: text }),
  parseSelector,
  parseRequirements,
  fromLabelSelector: (text) => [
    fromLabelSelector({ matchLabels: { [text]: text } }),
    fromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'In', values: text.split('.') }] }),
  ],
  makeRequirement: (text) => [makeRequirement('a', 'Gt', [text]), makeRequirement(`${text}/a`, 'Exists', [])],
  readAffinity: (text) =>
    readAffinity({ nodeSelectorTerms: [{ matchExpressions: [{ key: text, operator: text, values: [text] }] }] }),
  canonicalTimeZone,
  parseDate: (text) => [parseDate(text), parseDate(`2026-01-01T00:00:00.${text}`)],
  parseDuration: (text) => [
    parseDuration('--flag', '1s'),
    values.parseDuration(text),
    orThrown(() => parseDuration('', text)),
  ],
  parseImageId: (text) => [parseImageId(text), parseImageId(`${text}@sha256:${text}`)],
  imageReportsOf: (text) =>
    imageReportsOf({
      spec: { containers: [{ name: 'app', image: text }] },
      status: {
        containerStatuses: [{ name: 'app', image: text, imageID: text, ready: true, restartCount: 0 }],
      },
    }),
  imageFactsOf: (text) => [
    imageFactsOf(pod('PodImageReady', text)),
    imageFactsOf(pod('PodImageReady', `controllerrevision: ${text}`)),
  ],
  announcedRevision: (message) => announcedRevision({ status: '', reason: '', message }),
  approvedRevision: (text) => approvedRevision(pod('UpgradeApproved', `controllerrevision: ${text}`)),
  readInPlaceState: (text) => readInPlaceState(annotated(text)),
  withoutStaleStatuses: (text) =>
    withoutStaleStatuses({
      ...annotated(inPlace),
      status: {
        containerStatuses: [
          {
            name: 'app',
            image: 'a',
            imageID: '',
            ready: true,
            restartCount: 0,
            state: { waiting: { reason: 'x', message: `image "${text}` } },
          },
        ],
      },
    }),
  shorten: (text) => shorten(text, 200),
  cut: (text) => cut(text),
  plainText,
  templateDigest: (text) => templateDigest({ spec: spec(text) }),
  templateOrigin: (text) =>
    templateOrigin(
      { managedFields: [{ manager: text, operation: text, time: text, fieldsV1: { 'f:spec': { 'f:template': {} } } }] },
      { spec: spec(text) },
    ),
  parseQuantity,
  grants: (text) => grants({ limits: { cpu: text } }, { limits: { cpu: `${text}0` } }),
  qosOf: (text) => qosOf({ containers: [{ name: 'a', resources: { limits: { cpu: text, memory: `0.${text}` } } }] }),
  impliedPullPolicies: (text) => impliedPullPolicies(spec(text), spec(`${text}:a`), undefined),
  parseFinished: (text) => [parseFinished(text, '', 0), parseFinished(`1 ${text}`, '', 0)],
  parseRetryAfter: (text) => parseRetryAfter(text, 0),
  compareVersions: (text) => compareVersions(`1${text}`, text),
  namespaceOf: (text) => [namespaceOf(text), namespaceOf(`/namespaces/${text}`)],
  errorFromStatus: (message) =>
    errorFromStatus({ message, reason: message }, { status: 400, write: true, context: 'GET /a' }),
  serverText: (text) => [serverText(text), serverText(`GET /${text}`)],
  truncateNote: (text) => truncateNote(text),
  configFromFlags: (text) => [orThrown(() => configFromFlags({ server: `http://a/${text}` }))],
  proxyFromEnvironment: (text) => proxyFromEnvironment('https://a', { HTTPS_PROXY: 'b', NO_PROXY: text }),
  createLogger: (text) => log.warn(text, { text }),
  unknownPlaceholders,
  parseBindAddress: (text) => orThrown(() => parseBindAddress('', text)),
  hostHeader: (text) => orThrown(() => hostHeader('', text)),
  parseTarget: (text) => parseTarget(`/${text}`, Number.POSITIVE_INFINITY),
  parseDecision: (text) =>
    [
      { revision: text },
      { revision: 'a', decision: 'postpone', until: text },
      { decision: 'reject', [text]: text },
    ].map((body) => orThrown(() => parseDecision({ revision: 'a', ...body }, 0))),
  readNodeImages: (text) =>
    readNodeImages(
      { status: { images: [{ names: [text, text] }], allocatable: { 'ephemeral-storage': text } } },
      new Map(),
    )?.listed,
  fullImageName: (text) => [fullImageName(text), fullImageName(`a/${text}`)],
  sanitizePod: (text) =>
    sanitizePod({ metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text } } }),
  firstLine: (text) => firstLine(Buffer.from(text)),
  urlProblem: (text) => [urlProblem(text), urlProblem(`http://${text}`)],
  unseal: (text) => orThrown(() => unseal(text)),
  releaseNotesOf: (text) => releaseNotesOf({ metadata: { annotations: { 'edgeset.io/release-notes': text } } }),
  parseProxies: (text) => orThrown(() => parseProxies('--trusted-proxies', [text])),
  clientOf: (text) =>
    clientOf({ socket: { remoteAddress: '::1' }, headers: { 'x-forwarded-for': text } } as never, () => true),
  readCommand: (comment) =>
    readCommand({ command: 'approve', namespace: comment, kind: 'ds', name: 'a', stage: 'a', comment }),
  escapeLine,
  toMessage,
  diffTemplates: (text) => diffTemplates({ [text]: text }, { [text]: `${text}a` }),
  readKind,
  readName: (text) => orThrown(() => readName(text)),
  readNames: (text) => orThrown(() => readNames(['ds', text])),
  readGoal: (text) => orThrown(() => readGoal(text)),
  columnsOf,
  usageError: (text) => usageError(`error: option '--a${text}`, 'a'),
  readImage,
  checkCa: (text) => [
    orThrown(() => checkCa('ca.crt', text)),
    orThrown(() => checkCa('ca.crt', `-----BEGIN CERTIFICATE-----${text}`)),
    orThrown(() => checkCa('ca.crt', `-----BEGIN CERTIFICATE-----${text}-----END CERTIFICATE-----`)),
  ],
  parseYaml: (text) => orThrown(() => parseYaml(text)),
};

/** How many times as long as others these may take: it makes an object of every few characters. */
export const slower: Readonly<Record<string, number>> = { parseYaml: 8 };

/** What a parser throws is an answer, too; that it ran out of stack is none. */
function orThrown(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return error;
  }
}

/** Exports of the shipped code whose names begin as those of parsers, and that read no text: with what they read. */
export const readNoText: Readonly<Record<string, string>> = {
  readSecrets: 'objects, by the client',
  readPreceding: 'objects, by the client',
  readRollout: 'objects, by the client',
  readRevisions: 'objects, by the client',
  readPlan: 'objects, by the client',
  readPlans: 'objects, by the client',
  readConflict: 'objects, by the client',
  readInitialEvents: 'objects, by the client',
  readLiveDaemonSet: 'objects, by the client',
  readHistory: 'objects, by the client',
  readDaemonSet: 'objects, by the client',
  readPredecessor: 'objects, by the client',
  readRolloutOf: 'objects, by the client',
  readStatus: 'objects, by the client',
  readClusterStatus: 'objects, by the client',
  readLabel: 'a label, by its value',
  readBundleDeployment: 'objects, by the client',
  readManifestWork: 'objects, by the client',
  readManaged: 'objects, by the client',
  readDaemonSets: 'objects, by the client',
  readTarget: 'revisions that were read',
  readTerms: 'annotations, by the functions of values.ts',
  readJson: 'a request, by JSON.parse, up to a limit',
  readKubeconfig: 'files of the user, by parseYaml',
  parseConfig: 'a file of the administrator, by parseYaml, up to a limit',
};
