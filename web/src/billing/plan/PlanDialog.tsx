import { Alert, Anchor, List, Radio, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { FormActions } from '@/kit/forms/FormActions';
import { useFormat } from '@/kit/i18n/format';
import { LoadingRows } from '@/kit/lists/Listing';
import { METERS, writeAmount, writeQuantity, type Meter } from './meters';

type Plan = Schemas['BillingPlan'];
type PlanName = Plan['name'];
type When = 'now' | 'period_end';

interface Props {
  plan: Plan;
  onClose: () => void;
}

/** Changes the plan, and says why a plan cannot be had. */
export function PlanDialog({ plan, onClose }: Props) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const plans = $api.useQuery('get', '/api/v1/billing/plans');
  const [chosen, setChosen] = useState<PlanName>(plan.name);
  const [when, setWhen] = useState<When>('now');
  const change = $api.useMutation('post', '/api/v1/billing/plan/change');
  const submit = () =>
    change.mutate(
      { body: { plan: chosen, when } },
      {
        onSuccess: ({ data }) => {
          const later = data.scheduled_change;
          notifyDone(
            later
              ? t('change.later', {
                  name: t(`plans.${later.plan}`),
                  date: format.dayIn('UTC', later.effective_at),
                })
              : t('change.done', { name: t(`plans.${data.plan}`) }),
          );
          void queryClient.invalidateQueries();
          onClose();
        },
      },
    );
  return (
    <Dialog title={t('change.title')} onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <ErrorAlert error={plans.error} />
          {plans.isPending && <LoadingRows rows={3} />}
          {plans.data && (
            <PlanChoice
              plans={plans.data.data}
              current={plan.name}
              value={chosen}
              onChange={setChosen}
            />
          )}
          <WhenChoice value={when} onChange={setWhen} />
          <Refusal error={change.error} />
          <FormActions
            submit={t('change.submit')}
            loading={change.isPending}
            disabled={chosen === plan.name}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  plans: readonly Schemas['AvailablePlan'][];
  current: PlanName;
  value: PlanName;
  onChange: (plan: PlanName) => void;
}

function PlanChoice({ plans, current, value, onChange }: ChoiceProps) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const describe = ({ price, limits }: Schemas['AvailablePlan']) => {
    const quantities = METERS.filter((meter) => limits[meter] !== null).map((meter) =>
      t('change.limit', {
        quantity: writeQuantity(format, meter, limits[meter] ?? 0),
        meter: t(`meters.${meter}`),
      }),
    );
    const amount = writeAmount(format.locale, price.amount, price.currency);
    return [t('plan.price', { amount }), ...quantities].join(' · ');
  };
  return (
    <Radio.Group
      label={t('change.plan')}
      value={value}
      onChange={(next) => onChange(plans.find(({ name }) => name === next)?.name ?? value)}
    >
      <Stack gap="xs" mt={4}>
        {plans.map((plan) => (
          <Radio
            key={plan.name}
            value={plan.name}
            label={
              plan.name === current
                ? `${t(`plans.${plan.name}`)} (${t('change.current')})`
                : t(`plans.${plan.name}`)
            }
            description={describe(plan)}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function WhenChoice({ value, onChange }: { value: When; onChange: (when: When) => void }) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const now = new Date();
  const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0));
  const lastDay = `${end.toISOString().slice(0, 10)}T12:00`;
  return (
    <Radio.Group
      label={t('change.when')}
      value={value}
      onChange={(next) => onChange(next === 'now' ? 'now' : 'period_end')}
    >
      <Stack gap="xs" mt={4}>
        <Radio value="now" label={t('change.now')} description={t('change.now_text')} />
        <Radio
          value="period_end"
          label={t('change.period_end')}
          description={t('change.period_end_text', { date: format.date(lastDay) })}
        />
      </Stack>
    </Radio.Group>
  );
}

interface Over {
  meter: Meter;
  used: number;
  limit: number;
}

/** Why the plan was refused, with what to do about it. */
function Refusal({ error }: { error: unknown }) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  if (!isApiError(error, 'conflict')) return <ErrorAlert error={error} />;
  const over = error.details['over'] as Over[] | undefined;
  if (over)
    return (
      <Alert color="red" variant="light" role="alert" title={t('change.over')}>
        <List size="sm">
          {over.map(({ meter, used, limit }) => (
            <List.Item key={meter}>
              {t('change.over_item', {
                meter: t(`meters.${meter}`),
                used: writeQuantity(format, meter, used),
                limit: writeQuantity(format, meter, limit),
              })}
            </List.Item>
          ))}
        </List>
      </Alert>
    );
  if (error.details['missing'] !== undefined)
    return (
      <Alert color="red" variant="light" role="alert">
        <Text size="sm">{t('change.profile')}</Text>
        <Anchor component={Link} to="/billing/profile" size="sm">
          {t('change.to_profile')}
        </Anchor>
      </Alert>
    );
  return <ErrorAlert error={error} />;
}
