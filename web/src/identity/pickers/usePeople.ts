/** Members and teams of the organization, for names and for choosing. */
import { useMemo } from 'react';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { may } from '@/kit/session/may';
import { currentOrganization } from '@/kit/session/organization';

const KEPT = { staleTime: 60_000 };
const PAGE = 1000;

export interface People {
  members: readonly Schemas['Member'][];
  teams: readonly Schemas['TeamSummary'][];
  /** The name of a user or team; undefined for one that has left. */
  name: (id: string | null | undefined) => string | undefined;
  isPending: boolean;
}

export function usePeople(): People {
  const members = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/members',
    {
      params: {
        path: { org_slug: currentOrganization() ?? '' },
        query: { page_size: PAGE },
      },
    },
    { ...KEPT, enabled: may('members:read') },
  );
  const teams = $api.useQuery(
    'get',
    '/api/v1/teams',
    { params: { query: { page_size: PAGE } } },
    { ...KEPT, enabled: may('teams:read') },
  );
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { user } of members.data?.data ?? []) names.set(user.id, user.name);
    for (const team of teams.data?.data ?? []) names.set(team.id, team.name);
    return {
      members: members.data?.data ?? [],
      teams: teams.data?.data ?? [],
      name: (id) => (id ? names.get(id) : undefined),
      isPending: members.isPending || teams.isPending,
    };
  }, [members.data, teams.data, members.isPending, teams.isPending]);
}
