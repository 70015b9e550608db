import { api, unwrap } from '@/kit/api/client';
import { useWholeList } from '@/kit/lists/useWholeList';
import type { Option } from './options';

const QUERY = { page_size: 1000 };

/** Returns the teams of the organization by name, each with the name of its parent. */
export function useTeams(): Option[] {
  const { data: teams = [] } = useWholeList({
    path: '/api/v1/teams',
    params: QUERY,
    fetch: (cursor, signal) => {
      const params = { query: { ...QUERY, ...(cursor !== undefined && { cursor }) } };
      return unwrap(api.GET('/api/v1/teams', { params, signal }));
    },
  });
  const names = new Map(teams.map(({ id, name }) => [id, name]));
  return teams.map(({ id, name, parent_id }) => {
    const parent = parent_id === null ? undefined : names.get(parent_id);
    return { value: id, label: parent === undefined ? name : `${parent} › ${name}` };
  });
}
