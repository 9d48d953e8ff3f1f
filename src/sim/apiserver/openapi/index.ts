export { openapi } from './serve.ts';
