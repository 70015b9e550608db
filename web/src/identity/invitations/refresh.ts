import { queryClient } from '@/kit/api/queryClient';

export function refreshInvitations(): void {
  void queryClient.invalidateQueries({
    queryKey: ['get', '/api/v1/organizations/{org_slug}/invitations'],
  });
}
