/** What the service wrote into index.html. */

function readMeta(name: string): string {
  if (typeof document === 'undefined') return '';
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

/** The path that all addresses of the service begin with behind a proxy, without a slash at its end. */
export const basePath = readMeta('base-path');

/** The nonce that the policy of this page allows for style elements. */
export const styleNonce =
  typeof document === 'undefined'
    ? ''
    : (document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '');
