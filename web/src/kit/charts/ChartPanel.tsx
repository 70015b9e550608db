import { SegmentedControl, Skeleton } from '@mantine/core';
import { useId, useState, Suspense, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/kit/components/Panel';

interface Props {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** The picture; it is hidden from screen readers, who read the table. */
  chart: ReactNode;
  table: ReactNode;
  height?: number;
  /** What is chosen for both views, above them. */
  children?: ReactNode;
}

/** A chart with the table of the same figures behind it. */
export function ChartPanel(props: Props) {
  const { title, description, actions, chart, table, height = 260, children } = props;
  const { t } = useTranslation('kit/charts');
  const [view, setView] = useState('chart');
  const id = useId();
  return (
    <Panel
      title={title}
      description={description}
      actions={
        <>
          {actions}
          <SegmentedControl
            size="xs"
            id={id}
            aria-label={t('view', { title })}
            value={view}
            onChange={setView}
            data={[
              { value: 'chart', label: t('as_chart') },
              { value: 'table', label: t('as_table') },
            ]}
          />
        </>
      }
    >
      {children}
      {view === 'table' ? table : <Suspense fallback={<Skeleton h={height} />}>{chart}</Suspense>}
    </Panel>
  );
}
