import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { writeAmount, writeQuantity } from './meters';

type Charge = Schemas['PlanCharge'];

interface Props {
  charges: readonly Charge[];
  currency: string;
}

/** What a plan charges beyond the quantities that it includes. */
export function ChargesTable({ charges, currency }: Props) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const columns: Column<Charge>[] = [
    {
      key: 'meter',
      title: t('plan.meter'),
      heads: true,
      cell: ({ meter }) => t(`meters.${meter}`),
    },
    {
      key: 'included',
      title: t('plan.included'),
      align: 'end',
      cell: ({ meter, included }) => writeQuantity(format, meter, included),
    },
    {
      key: 'then',
      title: t('plan.then'),
      cell: (charge) => <Tiers charge={charge} currency={currency} />,
    },
  ];
  return (
    <>
      <Text size="xs" c="dimmed">
        {t('plan.charges')}
      </Text>
      <DataTable
        label={t('plan.charges')}
        columns={columns}
        rows={charges}
        rowKey={({ meter }) => meter}
        minWidth={480}
      />
    </>
  );
}

function Tiers({ charge, currency }: { charge: Charge; currency: string }) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const unit = charge.unit === 1 ? '' : writeQuantity(format, charge.meter, charge.unit);
  return (
    <Stack gap={0}>
      {charge.tiers.map(({ up_to, unit_price }) => {
        const price = writeAmount(format.locale, unit_price, currency);
        const quantity =
          up_to === null ? '' : writeQuantity(format, charge.meter, up_to * charge.unit);
        const key = up_to === null ? 'tier' : 'tier_to';
        return (
          <Text size="sm" key={quantity}>
            {unit === ''
              ? t(`plan.${key}`, { price, quantity })
              : t(up_to === null ? 'plan.tier_unit' : 'plan.tier_unit_to', {
                  price,
                  quantity,
                  unit,
                })}
          </Text>
        );
      })}
    </Stack>
  );
}
