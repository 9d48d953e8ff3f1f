import { compatibleRules } from './compatible.ts';
import { decisionRules } from './decisions.ts';
import { serving } from './serving.ts';
import { walkthrough } from './walkthrough.ts';

/** What owners do through the agents of their nodes, under the rights that are shipped. */
export const agentRules = [...compatibleRules, ...decisionRules, ...serving, ...walkthrough];
