import { $api } from '@/kit/api/client';
import { currentOrganization } from '@/kit/session/organization';

/** Returns the time zone of the organization; UTC until it is read. */
export function useOrganizationTimeZone(): string {
  const organization = $api.useQuery('get', '/api/v1/organizations/{org_slug}', {
    params: { path: { org_slug: currentOrganization() ?? '' } },
  });
  return organization.data?.data.settings.time_zone ?? 'UTC';
}
