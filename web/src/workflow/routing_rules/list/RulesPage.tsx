import { Button, Center, Checkbox, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { useMay } from '@/kit/session/may';
import { Simulation } from '../simulation/Simulation';
import { refreshRules, type Rule, useRules } from '../useRules';
import { moved } from './moving';
import { RuleCard } from './RuleCard';
import styles from './list.module.css';

/** Rules in their order. A move is shown at once and sent; what fails is put back. */
function useOrder(rules: readonly Rule[]) {
  const [ids, setIds] = useState<string[]>();
  const reorder = $api.useMutation('post', '/api/v1/routing-rules/reorder');
  const sorted = ids ? ids.flatMap((id) => rules.find((rule) => rule.id === id) ?? []) : [...rules];
  const move = (from: number, to: number) => {
    if (to < 0 || to >= sorted.length || from === to) return;
    const rule_ids = moved(
      sorted.map(({ id }) => id),
      from,
      to,
    );
    setIds(rule_ids);
    reorder.mutate(
      { body: { rule_ids } },
      { onSettled: () => void refreshRules().then(() => setIds(undefined)) },
    );
  };
  return { sorted, move, error: reorder.error };
}

export function RulesPage() {
  const { t } = useTranslation('workflow/routing_rules');
  const navigate = useNavigate();
  const mayManage = useMay()('routing_rules:manage');
  const rules = useRules();
  const create = () => void navigate({ to: '/routing/new' });
  useKeys(t('title'), mayManage ? [{ keys: 'n', text: t('new'), run: create }] : []);
  const actions = mayManage && (
    <Button component={Link} to="/routing/new" leftSection={<Plus size={16} aria-hidden />}>
      {t('new')}
    </Button>
  );
  return (
    <Page title={t('title')} description={t('text')} actions={actions}>
      <ErrorAlert error={rules.error} retry={() => void rules.refetch()} />
      {rules.isPending && <Loading />}
      {rules.data && <Rules rules={rules.data.data} readOnly={!mayManage} />}
      {rules.data && mayManage && rules.data.data.length > 0 && (
        <>
          <Simulation />
          <ApplyBox rule={rules.data.data[0]} />
        </>
      )}
    </Page>
  );
}

function Rules({ rules, readOnly }: { rules: readonly Rule[]; readOnly: boolean }) {
  const { t } = useTranslation('workflow/routing_rules');
  const { sorted, move, error } = useOrder(rules);
  if (rules.length === 0) {
    return (
      <Center p="xl">
        <Text c="dimmed" ta="center">
          {t('empty')}
        </Text>
      </Center>
    );
  }
  const raced = isApiError(error, 'conflict');
  return (
    <Stack gap="xs">
      <ErrorAlert error={raced ? new Error(t('order_raced')) : error} />
      <ol className={styles.list} aria-label={t('title')}>
        {sorted.map((rule, index) => (
          <RuleCard
            key={rule.id}
            rule={rule}
            index={index}
            count={sorted.length}
            move={move}
            readOnly={readOnly}
          />
        ))}
      </ol>
    </Stack>
  );
}

/** Routes the documents that wait, by the rules as they are. */
function ApplyBox({ rule }: { rule: Rule | undefined }) {
  const { t } = useTranslation('workflow/routing_rules');
  const [sure, setSure] = useState(false);
  const apply = $api.useMutation('patch', '/api/v1/routing-rules/{rule_id}');
  if (!rule) return null;
  // The API applies the rules with a change of one; this change changes nothing.
  const body = { name: rule.name, apply: true };
  const submit = () => apply.mutate({ params: { path: { rule_id: rule.id } }, body });
  return (
    <Stack gap="xs" align="flex-start">
      <Checkbox
        label={t('apply.sure')}
        checked={sure}
        onChange={(event) => setSure(event.currentTarget.checked)}
      />
      <Button
        variant="default"
        disabled={!sure || apply.isSuccess}
        loading={apply.isPending}
        onClick={submit}
      >
        {t('apply.button')}
      </Button>
      {apply.isSuccess && (
        <Text size="sm" role="status">
          {t('apply.started')}
        </Text>
      )}
      <ErrorAlert error={apply.error} />
    </Stack>
  );
}
