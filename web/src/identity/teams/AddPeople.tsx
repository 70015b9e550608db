import { Checkbox, Group, ScrollArea, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { FormActions } from '@/kit/forms/FormActions';
import { LoadingRows } from '@/kit/lists/Listing';
import { SearchInput } from '@/kit/lists/SearchInput';
import { requireOrganization } from '@/kit/session/organization';

const PAGE = 100;

interface Props {
  team: Schemas['Team'];
  onClose: () => void;
}

export function AddPeople({ team, onClose }: Props) {
  const { t } = useTranslation('identity/teams');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const add = $api.useMutation('post', '/api/v1/teams/{team_id}/members');
  const submit = () =>
    add.mutate(
      {
        params: { path: { team_id: team.id } },
        body: { user_ids: [...chosen] },
      },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries();
          onClose();
        },
      },
    );
  return (
    <Dialog title={t('people.add_title', { name: team.name })} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Candidates team={team} chosen={chosen} onChange={setChosen} />
          <ErrorAlert error={add.error} />
          <FormActions
            submit={t('people.add_action', { count: chosen.length })}
            loading={add.isPending}
            disabled={chosen.length === 0}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

interface CandidatesProps {
  team: Schemas['Team'];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Members of the organization who are not in the team; a search finds further ones. */
function Candidates({ team, chosen, onChange }: CandidatesProps) {
  const { t: tKit } = useTranslation();
  const [q, setQ] = useState<string>();
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/members',
    {
      params: {
        path: { org_slug: requireOrganization() },
        query: { q, page_size: PAGE },
      },
    },
    { placeholderData: keepPreviousData },
  );
  const inside = new Set(team.members.map(({ user }) => user.id));
  const others = query.data?.data.filter(({ user }) => !inside.has(user.id));
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <>
      <SearchInput value={q} onChange={setQ} data-autofocus />
      <ErrorAlert error={query.error} />
      {!others && <LoadingRows rows={3} />}
      <ScrollArea.Autosize mah={300} type="auto">
        <Stack gap={6}>
          {others?.map(({ user, role }) => (
            <Checkbox
              key={user.id}
              checked={chosen.includes(user.id)}
              onChange={() => toggle(user.id)}
              label={
                <Group gap={6} component="span">
                  <span dir="auto">{user.name}</span>
                  <Text span size="xs" c="dimmed">
                    {`${user.email} · ${tKit(`roles.${role}`)}`}
                  </Text>
                </Group>
              }
            />
          ))}
        </Stack>
      </ScrollArea.Autosize>
    </>
  );
}
