import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';

interface Figures {
  predictions: number;
  precision: number | null;
  recall: number | null;
  f1: number | null;
}

export const RATES = ['precision', 'recall', 'f1'] as const;

/** The columns of figures that all tables of models have. */
export function useFigureColumns<Row extends Figures>(): Column<Row>[] {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  return [
    {
      key: 'predictions',
      title: t('figures.predictions'),
      align: 'end',
      cell: ({ predictions }) => format.number(predictions),
    },
    ...RATES.map((name): Column<Row> => ({
      key: name,
      title: t(`figures.${name}`),
      align: 'end',
      cell: (row) => {
        const value = row[name];
        return value === null ? '–' : format.percent(value, 1);
      },
    })),
  ];
}
