export { serveOpenApi } from './openapi-serve.ts';
