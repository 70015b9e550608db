import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone, notifyError } from '@/kit/components/notify';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import { LoadingRows } from '@/kit/lists/Listing';
import { useMay } from '@/kit/session/may';
import { BillingPage } from './BillingPage';
import { ChargesTable } from './ChargesTable';
import { HistoryPanel } from './HistoryPanel';
import { writeAmount } from './meters';
import { PlanDialog } from './PlanDialog';
import { UsagePanel } from './UsagePanel';

export function PlanPage() {
  const plan = $api.useQuery('get', '/api/v1/billing/plan');
  return (
    <BillingPage>
      <ErrorAlert error={plan.error} retry={() => void plan.refetch()} />
      {plan.isPending && <LoadingRows rows={3} />}
      {plan.data && <PlanPanel plan={plan.data.data} />}
      <UsagePanel />
      <HistoryPanel />
    </BillingPage>
  );
}

function PlanPanel({ plan }: { plan: Schemas['BillingPlan'] }) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const mayChange = useMay()('billing:change_plan');
  const [opened, { open, close }] = useDisclosure(false);
  const price = writeAmount(format.locale, plan.price.amount, plan.price.currency);
  const isFixed = plan.limits_set_by_operator.length > 0;
  return (
    <Panel
      title={t('plan.title', { name: t(`plans.${plan.name}`) })}
      description={t('plan.price', { amount: price })}
      actions={
        mayChange &&
        !isFixed && (
          <Button size="compact-md" onClick={open}>
            {t('plan.change')}
          </Button>
        )
      }
    >
      {isFixed && <Text size="sm">{t('plan.operator')}</Text>}
      {plan.scheduled_change && (
        <Scheduled plan={plan} change={plan.scheduled_change} mayChange={mayChange} />
      )}
      {plan.charges.length > 0 && (
        <ChargesTable charges={plan.charges} currency={plan.price.currency} />
      )}
      {opened && <PlanDialog plan={plan} onClose={close} />}
    </Panel>
  );
}

interface ScheduledProps {
  plan: Schemas['BillingPlan'];
  change: Schemas['ScheduledPlanChange'];
  mayChange: boolean;
}

/** A change that will happen, and the way to call it off. */
function Scheduled({ plan, change, mayChange }: ScheduledProps) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const cancel = $api.useMutation('post', '/api/v1/billing/plan/change');
  const name = t(`plans.${plan.name}`);
  const keep = () =>
    cancel.mutate(
      { body: { plan: plan.name } },
      {
        onSuccess: () => {
          notifyDone(t('plan.kept', { name }));
          void queryClient.invalidateQueries();
        },
        onError: notifyError,
      },
    );
  return (
    <Group gap="sm">
      <Text size="sm" fw={500}>
        {t('plan.scheduled', {
          name: t(`plans.${change.plan}`),
          date: format.dayIn('UTC', change.effective_at),
        })}
      </Text>
      {mayChange && (
        <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={keep}>
          {t('plan.keep', { name })}
        </Button>
      )}
    </Group>
  );
}
