import { $api } from '@/kit/api/client';
import type { Option } from './options';

const MOST = 1000;

/** Returns the teams of the organization by name, each with the name of its parent. */
export function useTeams(): Option[] {
  const { data } = $api.useQuery(
    'get',
    '/api/v1/teams',
    { params: { query: { page_size: MOST } } },
    { staleTime: 60_000 },
  );
  const teams = data?.data ?? [];
  const names = new Map(teams.map(({ id, name }) => [id, name]));
  return teams.map(({ id, name, parent_id }) => {
    const parent = parent_id === null ? undefined : names.get(parent_id);
    return { value: id, label: parent === undefined ? name : `${parent} › ${name}` };
  });
}
