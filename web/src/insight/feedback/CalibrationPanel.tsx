import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { ChartPanel, LazyLines } from '@/kit/charts';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';

type Bin = Schemas['CalibrationBin'];

/** How often predictions are right, by their confidence. */
export function CalibrationPanel({ figures }: { figures: Schemas['CalibratedFigures'] }) {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  const { bins, expected_calibration_error: error } = figures.calibration;
  const known = bins.filter(({ predictions }) => predictions > 0);
  if (known.length === 0 || error === null)
    return (
      <Panel title={t('calibration.title')}>
        <Text size="sm" c="dimmed">
          {t('calibration.none')}
        </Text>
      </Panel>
    );
  return (
    <ChartPanel
      title={t('calibration.title')}
      description={t('calibration.text', { error: format.percent(error, 1) })}
      chart={
        <LazyLines
          label={t('calibration.title')}
          lines={[
            { key: 'accuracy', name: t('calibration.accuracy') },
            { key: 'ideal', name: t('calibration.ideal') },
          ]}
          helpers={['ideal']}
          rows={known.map(({ confidence, accuracy }) => ({
            at: format.percent(confidence),
            accuracy,
            ideal: confidence,
          }))}
          format={(value) => format.percent(value, 1)}
          domain={[0, 1]}
        />
      }
      table={<BinsTable bins={known} />}
    />
  );
}

function BinsTable({ bins }: { bins: readonly Bin[] }) {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  return (
    <DataTable<Bin>
      label={t('calibration.title')}
      rows={bins}
      rowKey={({ low }) => String(low)}
      minWidth={460}
      columns={[
        {
          key: 'confidence',
          title: t('calibration.confidence'),
          heads: true,
          cell: ({ confidence }) => format.percent(confidence, 1),
        },
        {
          key: 'accuracy',
          title: t('calibration.accuracy'),
          align: 'end',
          cell: ({ accuracy }) => format.percent(accuracy, 1),
        },
        {
          key: 'interval',
          title: t('calibration.interval'),
          align: 'end',
          cell: ({ ci_low, ci_high }) =>
            ci_low === null || ci_high === null
              ? '–'
              : `${format.percent(ci_low)} – ${format.percent(ci_high)}`,
        },
        {
          key: 'predictions',
          title: t('calibration.predictions'),
          align: 'end',
          cell: ({ predictions }) => format.number(predictions),
        },
      ]}
    />
  );
}
