/**
 * Addresses as the browser shows them. Pages inside an organization are below `/o/{slug}`; the routes
 * are declared without it. Public pages have no organization.
 */
import { currentOrganization, joinPath, splitPath } from '@/kit/session/organization';

const PUBLIC =
  /^\/(sign-in|sign-on|organizations|reset-password|forgot-password|accept-invitation|confirm-email|confirm-sign-on|open)(\/|$)/;

/** The router's view of an address. */
export function toRoute(path: string): string {
  return splitPath(path).path;
}

/** The address of a route. */
export function toAddress(path: string): string {
  const slug = currentOrganization();
  return slug === undefined || PUBLIC.test(path) ? path : joinPath(slug, path);
}
