import { Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { ChartPanel } from '@/kit/charts';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';
import { HeatTable } from './HeatTable';
import { buildMatrix, pairKey } from './matrix';
import { chooseCoefficient, listCoefficients, type Coefficient } from './runs';

type Pair = Schemas['AgreementPair'];

interface Props {
  pairs: readonly Pair[];
  metric: Coefficient;
}

/** How much each two labelers agree in one field. */
export function PairsPanel({ pairs, metric: wanted }: Props) {
  const { t } = useTranslation('insight/quality');
  const fields = [...new Set(pairs.map(({ field }) => field))];
  const [chosen, setChosen] = useState<string>();
  const field = fields.find((one) => one === chosen) ?? fields[0];
  // Not every coefficient compares pairs.
  const metric = listCoefficients(pairs).includes(wanted) ? wanted : chooseCoefficient(pairs);
  const own = pairs.filter((pair) => pair.metric === metric && pair.field === field);
  if (field === undefined || metric === undefined) return null;
  return (
    <ChartPanel
      title={t('agreement.pairs')}
      description={t('agreement.pairs_text', { metric: t(`coefficients.${metric}`), field })}
      chart={<PairsMatrix pairs={own} />}
      table={<PairsTable pairs={own} />}
    >
      <Group>
        <Select
          label={t('field')}
          w={230}
          allowDeselect={false}
          searchable
          limit={100}
          value={field}
          data={fields}
          onChange={(next) => setChosen(next ?? undefined)}
        />
      </Group>
      {own.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('agreement.no_pairs')}
        </Text>
      )}
    </ChartPanel>
  );
}

function PairsMatrix({ pairs }: { pairs: readonly Pair[] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const matrix = buildMatrix(pairs);
  if (!matrix) return <PairsTable pairs={pairs} />;
  if (pairs.length === 0) return null;
  const { people, values } = matrix;
  const names = people.map(({ name }) => name);
  return (
    <HeatTable
      label={t('agreement.pairs')}
      rowsTitle={t('agreement.pair_a')}
      columnsTitle={t('agreement.pair_b')}
      rows={names}
      columns={names}
      cell={(row, column) => {
        const a = people[row];
        const b = people[column];
        const value = a && b && values.get(pairKey(a.id, b.id))?.value;
        if (value === undefined || value === null) return undefined;
        return {
          share: value,
          text: format.number(value, {
            minimumFractionDigits: 2,
            maximumFractionDigits: 2,
          }),
        };
      }}
    />
  );
}

function PairsTable({ pairs }: { pairs: readonly Pair[] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const write = (value: number | null) =>
    value === null ? '–' : format.number(value, { maximumFractionDigits: 2 });
  const name = (person: Pair['a']) => <bdi>{person?.name ?? t('agreement.other')}</bdi>;
  const rows = pairs.map((pair, index) => ({ ...pair, key: String(index) }));
  return (
    <DataTable
      label={t('agreement.pairs')}
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        {
          key: 'a',
          title: t('agreement.pair_a'),
          heads: true,
          cell: ({ a }) => name(a),
        },
        { key: 'b', title: t('agreement.pair_b'), cell: ({ b }) => name(b) },
        {
          key: 'value',
          title: t('agreement.value'),
          align: 'end',
          cell: ({ value }) => write(value),
        },
        {
          key: 'interval',
          title: t('agreement.interval'),
          align: 'end',
          cell: ({ ci_low, ci_high }) => `${write(ci_low)} – ${write(ci_high)}`,
        },
        {
          key: 'units',
          title: t('agreement.units'),
          align: 'end',
          cell: ({ units }) => format.number(units),
        },
      ]}
    />
  );
}
