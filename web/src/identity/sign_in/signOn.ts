/** Single sign-on. The cookie of the service binds it to this browser. */
import { api, unwrap } from '@/kit/api/client';
import { basePath } from '@/kit/environment';

const STARTED = 'sign_on_started';

/** Sends the browser to the identity provider. `who` is an email address or an organization. */
export async function startSignOn(who: string, next: string | undefined): Promise<void> {
  const name = who.trim();
  const { data } = await unwrap(
    api.POST('/api/v1/auth/sso/start', {
      body: {
        ...(name.includes('@') ? { email: name } : { org_slug: name }),
        redirect_uri: `${window.location.origin}${basePath}/sign-on`,
        next: next ?? null,
      },
    }),
  );
  sessionStorage.setItem(STARTED, 'yes');
  window.location.assign(data.redirect_url);
}

/**
 * Returns whether the sign-on began in this tab. A code that came by email is not used before the
 * user presses a button, because programs open the links of emails, too.
 */
export function hasStarted(): boolean {
  return sessionStorage.getItem(STARTED) !== null;
}

export function finishSignOn(): void {
  sessionStorage.removeItem(STARTED);
}
