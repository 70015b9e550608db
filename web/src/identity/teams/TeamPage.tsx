import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { ArrowLeft, Pencil, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { NotFound } from '@/kit/components/NotFound';
import { notifyDone } from '@/kit/components/notify';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { LoadingRows } from '@/kit/lists/Listing';
import { useMay } from '@/kit/session/may';
import { TeamDialog } from './TeamDialog';
import { TeamPeople } from './TeamPeople';

const route = getRouteApi('/work/teams/$teamId');

export function TeamPage() {
  const { t } = useTranslation('identity/teams');
  const { teamId } = route.useParams();
  const query = $api.useQuery('get', '/api/v1/teams/{team_id}', {
    params: { path: { team_id: teamId } },
  });
  if (isApiError(query.error, 'not_found')) return <NotFound />;
  const problem = <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  if (query.data) return <Team team={query.data.data} problem={problem} />;
  return (
    <Page title={t('title')}>
      {problem}
      {query.isPending && <LoadingRows />}
    </Page>
  );
}

function Team({ team, problem }: { team: Schemas['Team']; problem: ReactNode }) {
  const { t } = useTranslation('identity/teams');
  const mayManage = useMay()('teams:manage');
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const edit = () => setDialog('edit');
  const close = () => setDialog(undefined);
  useKeys(team.name, [{ keys: 'e', text: t('edit'), run: edit, disabled: !mayManage }]);
  const actions = mayManage && (
    <>
      <Button variant="default" leftSection={<Pencil size={14} />} onClick={edit}>
        {t('edit')}
      </Button>
      <Button
        variant="default"
        c="var(--mantine-color-error)"
        leftSection={<Trash2 size={14} />}
        onClick={() => setDialog('delete')}
      >
        {t('delete')}
      </Button>
    </>
  );
  return (
    <>
      <Page title={team.name} description={team.description} actions={actions}>
        <Stack>
          {problem}
          <Group gap="xs">
            <Button
              component={Link}
              to="/teams"
              variant="subtle"
              size="compact-sm"
              leftSection={<ArrowLeft size={14} />}
            >
              {t('back')}
            </Button>
            {team.skills.map((skill) => (
              <Badge key={skill} variant="default" tt="none" fw={400}>
                <span dir="auto">{skill}</span>
              </Badge>
            ))}
            {team.lead_id === null && (
              <Text size="xs" c="dimmed">
                {t('no_lead')}
              </Text>
            )}
          </Group>
          <TeamPeople team={team} />
        </Stack>
      </Page>
      {dialog === 'edit' && <TeamDialog team={team} onClose={close} />}
      {dialog === 'delete' && <DeleteTeam team={team} onClose={close} />}
    </>
  );
}

function DeleteTeam({ team, onClose }: { team: Schemas['Team']; onClose: () => void }) {
  const { t } = useTranslation('identity/teams');
  const router = useRouter();
  const remove = $api.useMutation('delete', '/api/v1/teams/{team_id}');
  const confirm = () =>
    remove.mutate(
      {
        params: {
          path: { team_id: team.id },
          header: { 'If-Match': `"${team.revision}"` },
        },
      },
      {
        onSuccess: () => {
          notifyDone(t('remove.done', { name: team.name }));
          void router.navigate({ to: '/teams' }).then(() => queryClient.invalidateQueries());
        },
      },
    );
  return (
    <ConfirmDialog
      title={t('remove.title', { name: team.name })}
      action={t('delete')}

      onClose={onClose}
      onConfirm={confirm}
      loading={remove.isPending}
      error={remove.error}
      danger
    >
      {t('remove.text')}
    </ConfirmDialog>
  );
}
