import type { Asset } from '../page/index.ts';
import type { HttpResponse } from './response.ts';

export interface PageRoutes {
  /** Undefined for what is no file of the page; 304 when `known` is the etag of what there is. */
  find(path: string, known: string | undefined): Promise<HttpResponse | undefined>;
}

/** All that the page needs is its own: nothing inline, nothing from elsewhere, no frame around it, no form. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The owner's page, loaded when it is first asked for: most devices never show it. */
export const createPageRoutes = (load: () => Promise<readonly Asset[]>): PageRoutes => {
  let loading: Promise<ReadonlyMap<string, HttpResponse>> | undefined;
  const read = async (): Promise<ReadonlyMap<string, HttpResponse>> => {
    const assets = await load();
    return new Map(
      assets.map(({ path, contentType, body, etag }) => [
        path,
        {
          status: 200,
          contentType,
          body,
          headers: {
            'content-security-policy': PAGE_POLICY,
            etag,
            // Every name but the root's holds a hash of its content.
            'cache-control': path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
          },
        },
      ]),
    );
  };
  return {
    async find(path, known) {
      if (path.startsWith('/edgeset.io/') || path.startsWith('/openyurt.io/') || path === '/pods') return undefined;
      loading ??= read().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      const found = (await loading).get(path);
      if (found?.headers?.etag === undefined || found.headers.etag !== known) return found;
      return { status: 304, headers: found.headers };
    },
  };
};
