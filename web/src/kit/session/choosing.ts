import { lastOrganization } from './organization';
import type { Session } from './store';

/**
 * Returns the organization to work in: that of the address, else the last one or the only one. Of
 * several, the user has to choose: then it returns undefined.
 */
export function chooseOrganization(
  session: Session,
  fromAddress: string | undefined,
): string | undefined {
  const slugs = session.organizations.map((one) => one.slug);
  const known = [fromAddress, lastOrganization()].find(
    (slug) => slug !== undefined && slug !== null && slugs.includes(slug),
  );
  return known ?? (slugs.length === 1 ? slugs[0] : undefined);
}
