import { recordOf } from '../../value/index.ts';
import type { Strategy } from '../strategy.ts';
import { defaultTemplate } from './pod-defaults.ts';
import { validatePodTemplate } from './pod-validation.ts';
import { mapField, withDefaultFields } from './shaping.ts';

export const podTemplateStrategy: Strategy = {
  hasGeneration: true,
  returnDeletedObject: true,
  defaults: (object) =>
    defaultTemplate(
      mapField(withDefaultFields(object, { template: {} }), 'template', (template) =>
        withDefaultFields(template, { spec: {} }),
      ),
    ),
  validate: (object) => validatePodTemplate(recordOf(object.template), 'template'),
};
