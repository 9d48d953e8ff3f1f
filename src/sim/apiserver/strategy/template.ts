import type { Strategy } from '../kinds/strategy.ts';
import { recordOf } from '../value/index.ts';
import { defaultTemplate } from './pod-defaults.ts';
import { validateTemplateSpec } from './pod-validation.ts';
import { inField, under } from './shaping.ts';

export const podTemplateStrategy: Strategy = {
  generation: true,
  answersWithObject: true,
  defaults: (object) =>
    defaultTemplate(inField(under(object, { template: {} }), 'template', (template) => under(template, { spec: {} }))),
  validate: (object) => validateTemplateSpec(recordOf(object.template), 'template'),
};
