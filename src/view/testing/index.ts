export { awaitingApproval, planWith, stage } from './plan-objects.ts';
