/**
 * Where links of notifications lead. `/open/{slug}/{path}` has the path of the API; the workbench has
 * a page for each.
 */
const ID = '([0-9a-f-]{36})';
const TARGETS: readonly [RegExp, string][] = [
  [new RegExp(`^artifacts/${ID}$`), '/documents/$1'],
  [new RegExp(`^tag-sets/${ID}$`), '/tag-sets/$1'],
  [new RegExp(`^tag-sets/${ID}/comments$`), '/tag-sets/$1?panel=comments'],
  [new RegExp(`^review-queue/${ID}$`), '/review/$1'],
  [/^review-queue$/, '/review'],
  [/^users\/me\/assignments$/, '/'],
  [new RegExp(`^webhooks/${ID}$`), '/integrations/webhooks/$1'],
  [new RegExp(`^connectors/${ID}/alerts$`), '/connectors/$1/alerts'],
  [/^organizations\/[^/]+\/api-keys$/, '/integrations/api-keys'],
  [/^organizations\/[^/]+\/members$/, '/members'],
  [new RegExp(`^exports/${ID}$`), '/exports/$1'],
  [/^quality\/drift$/, '/drift'],
  [/^billing\/usage$/, '/billing'],
];

/** Returns the page for a path of the API, with its query; unknown paths lead home. */
export function findTarget(resource: string, query = ''): string {
  for (const [pattern, page] of TARGETS) {
    if (!pattern.test(resource)) continue;
    const path = resource.replace(pattern, page);
    if (query === '') return path;
    return `${path}${path.includes('?') ? '&' : '?'}${query}`;
  }
  return '/';
}
