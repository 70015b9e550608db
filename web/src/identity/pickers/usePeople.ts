/** Members and teams of the organization, for names and for choosing. */
import { useMemo } from 'react';
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { useWholeList } from '@/kit/lists/useWholeList';
import { may } from '@/kit/session/may';
import { currentOrganization } from '@/kit/session/organization';

const QUERY = { page_size: 1000 };
const MEMBERS = '/api/v1/organizations/{org_slug}/members';
const TEAMS = '/api/v1/teams';

const from = (cursor: string | undefined) => ({
  ...QUERY,
  ...(cursor !== undefined && { cursor }),
});

export interface People {
  members: readonly Schemas['Member'][];
  teams: readonly Schemas['TeamSummary'][];
  /** The name of a user or team; undefined for one that has left. */
  name: (id: string | null | undefined) => string | undefined;
  isPending: boolean;
}

export function usePeople(): People {
  const path = { org_slug: currentOrganization() ?? '' };
  const members = useWholeList({
    path: MEMBERS,
    params: path,
    fetch: (cursor, signal) =>
      unwrap(api.GET(MEMBERS, { params: { path, query: from(cursor) }, signal })),
    enabled: may('members:read'),
  });
  const teams = useWholeList({
    path: TEAMS,
    params: QUERY,
    fetch: (cursor, signal) => unwrap(api.GET(TEAMS, { params: { query: from(cursor) }, signal })),
    enabled: may('teams:read'),
  });
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { user } of members.data ?? []) names.set(user.id, user.name);
    for (const team of teams.data ?? []) names.set(team.id, team.name);
    return {
      members: members.data ?? [],
      teams: teams.data ?? [],
      name: (id) => (id ? names.get(id) : undefined),
      isPending: members.isPending || teams.isPending,
    };
  }, [members.data, teams.data, members.isPending, teams.isPending]);
}
