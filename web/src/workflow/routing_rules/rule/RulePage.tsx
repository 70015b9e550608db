import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { queryClient } from '@/kit/api/queryClient';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { NotFound } from '@/kit/components/NotFound';
import { Page } from '@/kit/components/Page';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { useMay } from '@/kit/session/may';
import { refreshRules, type Rule } from '../useRules';
import { toBody, toDraft } from './draft';
import { RuleForm } from './RuleForm';

export function RulePage() {
  const { t } = useTranslation('workflow/routing_rules');
  const { ruleId } = useParams({ from: '/work/routing/$ruleId' });
  const { data, error, refetch } = $api.useQuery('get', '/api/v1/routing-rules/{rule_id}', {
    params: { path: { rule_id: ruleId } },
  });
  if (isApiError(error) && error.status === 404) return <NotFound />;
  if (data)
    return <EditedRecord latest={data.data}>{(rule) => <Loaded rule={rule} />}</EditedRecord>;
  return (
    <Page title={t('rule')}>
      {error ? <ErrorAlert error={error} retry={() => void refetch()} /> : <Loading />}
    </Page>
  );
}

function Loaded({ rule }: { rule: Rule }) {
  const { t } = useTranslation('workflow/routing_rules');
  const navigate = useNavigate();
  const mayManage = useMay()('routing_rules:manage');
  const [draft, setDraft] = useState(() => toDraft(rule));
  const [deleting, remove] = useDisclosure(false);
  const update = $api.useMutation('patch', '/api/v1/routing-rules/{rule_id}');
  const submit = () =>
    update.mutate(
      {
        params: { path: { rule_id: rule.id } },
        body: { ...toBody(draft), apply: draft.apply, revision: rule.revision },
      },
      {
        onSuccess: () => {
          void refreshRules();
          void navigate({ to: '/routing', ignoreBlocker: true });
        },
      },
    );
  const actions = mayManage && (
    <Button
      variant="default"
      c="var(--mantine-color-error)"
      leftSection={<Trash2 size={16} aria-hidden />}
      onClick={remove.open}
    >
      {t('delete.button')}
    </Button>
  );
  return (
    <Page title={rule.name} actions={actions}>
      <RuleForm
        draft={draft}
        change={(changes) => setDraft({ ...draft, ...changes })}
        submit={submit}
        isPending={update.isPending}
        error={update.error}
        readOnly={!mayManage}
      />
      <DeleteDialog rule={rule} opened={deleting} close={remove.close} />
    </Page>
  );
}

interface DeleteProps {
  rule: Rule;
  opened: boolean;
  close: () => void;
}

function DeleteDialog({ rule, opened, close }: DeleteProps) {
  const { t } = useTranslation('workflow/routing_rules');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/api/v1/routing-rules/{rule_id}');
  const submit = () =>
    remove.mutate(
      { params: { path: { rule_id: rule.id } } },
      {
        onSuccess: () => {
          const queryKey = ['get', '/api/v1/routing-rules'];
          void queryClient.invalidateQueries({ queryKey });
          void navigate({ to: '/routing', ignoreBlocker: true });
        },
      },
    );
  return (
    <ConfirmDialog
      danger
      title={t('delete.title')}
      opened={opened}
      onClose={close}
      action={t('delete.button')}
      onConfirm={submit}
      loading={remove.isPending}
      error={remove.error}
    >
      {t('delete.text', { name: rule.name })}
    </ConfirmDialog>
  );
}
