export { describeAdvancedApi } from './api.ts';
