export { forbiddenField, invalidValue, notSupported, requiredField } from './causes.ts';
export {
  bindingStrategy,
  budgetStrategy,
  configMapStrategy,
  eventStrategy,
  leaseStrategy,
  namespaceStrategy,
  networkPolicyStrategy,
  newEventStrategy,
  nodeStrategy,
  priorityClassStrategy,
  roleStrategy,
  secretStrategy,
  serviceAccountStrategy,
  serviceStrategy,
} from './core.ts';
export { generatedName, randomSuffix, randomUid, validateAnnotations, validateLabels, validateName } from './names.ts';
export { podStrategy } from './pod.ts';
export { isQuantity } from './quantity.ts';
export { withDefaultFields } from './shaping.ts';
export { podTemplateStrategy } from './template.ts';
export { daemonSetStrategy, deploymentStrategy, replicaSetStrategy, revisionStrategy } from './workload.ts';
