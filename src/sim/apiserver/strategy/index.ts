export { forbiddenChange, invalidValue, notSupported, required } from './causes.ts';
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
export { annotationCauses, generatedName, labelCauses, nameCauses, randomSuffix, randomUid } from './names.ts';
export { podStrategy } from './pod.ts';
export { isQuantity } from './quantity.ts';
export { under } from './shaping.ts';
export { podTemplateStrategy } from './template.ts';
export { daemonSetStrategy, deploymentStrategy, replicaSetStrategy, revisionStrategy } from './workload.ts';
