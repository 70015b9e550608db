import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { MemberSelect } from '@/identity/pickers';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { Panel } from '@/kit/components/Panel';
import { FormActions } from '@/kit/forms/FormActions';
import { setCurrentOrganization } from '@/kit/session/organization';
import { readSession, updateSession } from '@/kit/session/store';

type Organization = Schemas['Organization'];

interface Props {
  organization: Organization;
}

/** What an owner can do only once. */
export function DangerPanel({ organization }: Props) {
  const { t } = useTranslation('identity/organizations');
  const [dialog, setDialog] = useState<'transfer' | 'close'>();
  const close = () => setDialog(undefined);
  return (
    <Panel title={t('danger.title')}>
      {(['transfer', 'close'] as const).map((what) => (
        <Group key={what} justify="space-between" wrap="wrap" gap="xs">
          <Text size="sm" maw={420}>
            {t(`danger.${what}_text`)}
          </Text>
          <Button variant="default" c="var(--mantine-color-error)" onClick={() => setDialog(what)}>
            {t(`danger.${what}`)}
          </Button>
        </Group>
      ))}
      {dialog === 'transfer' && <Transfer organization={organization} onClose={close} />}
      {dialog === 'close' && <Close organization={organization} onClose={close} />}
    </Panel>
  );
}

interface DialogProps extends Props {
  onClose: () => void;
}

function Transfer({ organization, onClose }: DialogProps) {
  const { t } = useTranslation('identity/organizations');
  const [userId, setUserId] = useState<string>();
  const transfer = $api.useMutation('post', '/api/v1/organizations/{org_slug}/transfer-ownership');
  const { slug } = organization;
  const submit = () => {
    if (userId === undefined) return;
    transfer.mutate(
      { params: { path: { org_slug: slug } }, body: { user_id: userId } },
      {
        onSuccess: () => {
          const organizations = readSession()?.organizations.map((one) =>
            one.slug === slug ? { ...one, role: 'admin' as const } : one,
          );
          if (organizations) updateSession({ organizations });
          notifyDone(t('danger.transferred'));
          void queryClient.invalidateQueries();
          onClose();
        },
      },
    );
  };
  const own = readSession()?.user.id;
  return (
    <Dialog title={t('danger.transfer_title')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Text size="sm">{t('danger.transfer_text')}</Text>
          <MemberSelect
            label={t('danger.transfer_to')}
            required
            value={userId}
            onChange={setUserId}
            {...(own !== undefined && { exclude: [own] })}
          />
          <ErrorAlert error={transfer.error} />
          <FormActions
            submit={t('danger.transfer_action')}
            loading={transfer.isPending}
            disabled={userId === undefined}
            onCancel={onClose}
            danger
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function Close({ organization, onClose }: DialogProps) {
  const { t } = useTranslation('identity/organizations');
  const router = useRouter();
  const [typed, setTyped] = useState('');
  const close = $api.useMutation('post', '/api/v1/organizations/{org_slug}/close');
  const { slug, name } = organization;
  const leave = async () => {
    const organizations = readSession()?.organizations.filter((one) => one.slug !== slug) ?? [];
    queryClient.clear();
    setCurrentOrganization(undefined);
    updateSession({ organizations });
    await router.navigate({ to: '/organizations', ignoreBlocker: true });
  };
  const submit = () =>
    close.mutate(
      { params: { path: { org_slug: slug } }, body: { slug } },
      { onSuccess: () => void leave() },
    );
  return (
    <Dialog title={t('danger.close_title', { name })} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Text size="sm">{t('danger.close_text')}</Text>
          <TextInput
            label={t('danger.close_confirm', { slug })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <ErrorAlert error={close.error} />
          <FormActions
            submit={t('danger.close_action')}
            loading={close.isPending}
            disabled={typed !== slug}
            onCancel={onClose}
            danger
          />
        </Stack>
      </form>
    </Dialog>
  );
}
