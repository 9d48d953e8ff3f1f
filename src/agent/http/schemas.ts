import { arrayOf, constant, integer, object, ref, type Schema, text } from '../schema.ts';
import {
  choiceSchema,
  decisionRequestSchema,
  decisionSchema,
  deviceSchema,
  historyEntrySchema,
  updateSchema,
  whenSchema,
} from '../types.ts';

const cause = object({ reason: text('CamelCase: the rule that refused the request.'), message: text() });
const status = object(
  {
    kind: constant('Status'),
    apiVersion: constant('v1'),
    metadata: object({}),
    status: constant('Failure'),
    message: text(),
    reason: text('CamelCase.'),
    details: object(
      { causes: arrayOf(cause), retryAfterSeconds: integer },
      { optional: ['causes', 'retryAfterSeconds'] },
    ),
    code: integer,
  },
  { optional: ['details'], description: 'A Kubernetes Status.' },
);

const podList: Schema = {
  type: 'object',
  description: 'A v1 PodList without managedFields and without literal values of environment variables.',
  properties: {
    kind: constant('PodList'),
    apiVersion: constant('v1'),
    metadata: object({ resourceVersion: text() }),
    items: arrayOf({ type: 'object' }),
  },
  required: ['kind', 'apiVersion', 'metadata', 'items'],
  additionalProperties: false,
};

/** The schemas of the API by their names in the OpenAPI document. */
export const schemas: Readonly<Record<string, Schema>> = {
  When: whenSchema,
  Choice: choiceSchema,
  DecisionRequest: decisionRequestSchema,
  Decision: decisionSchema,
  Update: updateSchema,
  UpdateList: object({ items: arrayOf(ref('Update')) }),
  HistoryEntry: historyEntrySchema,
  History: object({ items: arrayOf(ref('HistoryEntry')) }, { description: 'Newest first.' }),
  Device: deviceSchema,
  State: object(
    { device: ref('Device'), updates: arrayOf(ref('Update')) },
    { description: 'Data of an event `state`.' },
  ),
  PodList: podList,
  Status: status,
};
