import { basePath } from '@/kit/environment';

/**
 * The organization of this tab. The address holds it: `/o/{slug}/…`. Pages are declared without
 * this prefix; the router's rewriting takes it off and adds it.
 */
const PREFIX = /^\/o\/([^/]+)(\/.*)?$/;
const LAST = 'organization';

let current: string | undefined;

/** Splits `/o/{slug}/path` into both; other paths have no slug. */
export function splitPath(path: string): { slug: string | undefined; path: string } {
  const match = PREFIX.exec(path);
  if (!match?.[1]) return { slug: undefined, path };
  return { slug: decodeURIComponent(match[1]), path: match[2] ?? '/' };
}

export function joinPath(slug: string, path: string): string {
  return `/o/${encodeURIComponent(slug)}${path}`;
}

/** Returns the path of a page inside an organization as the browser has it. */
export function fullPath(slug: string, path: string): string {
  return `${basePath}${joinPath(slug, path)}`;
}

export function currentOrganization(): string | undefined {
  return current;
}

/** Sets the organization, and remembers it for the next visit. */
export function setCurrentOrganization(slug: string | undefined): void {
  current = slug;
  if (slug !== undefined) localStorage.setItem(LAST, slug);
}

export function lastOrganization(): string | null {
  return localStorage.getItem(LAST);
}

/** Returns the organization of a page inside one, for paths of the API. */
export function requireOrganization(): string {
  if (current === undefined) throw new Error('This page needs an organization.');
  return current;
}
