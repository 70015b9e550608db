import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { writeAmount } from '@/billing/plan';
import type { Schemas } from '@/kit/api/types';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { DownloadPdf } from './DownloadPdf';
import { useInvoiceDays } from './useInvoiceDays';
import { usePeriod } from './usePeriod';

type Invoice = Schemas['Invoice'];

const TONES = { draft: 'neutral', issued: 'active', paid: 'good', void: 'neutral' } as const;

export function InvoiceStatus({ invoice }: { invoice: Invoice }) {
  const { t } = useTranslation('billing/invoices');
  const { status, due_at, kind } = invoice;
  const isOverdue =
    status === 'issued' && kind === 'invoice' && due_at !== null && new Date(due_at) < new Date();
  return (
    <Group gap={4}>
      <StatusBadge tone={TONES[status]}>{t(`status.${status}`)}</StatusBadge>
      {isOverdue && <StatusBadge tone="bad">{t('overdue')}</StatusBadge>}
    </Group>
  );
}

export function InvoicesTable({ invoices }: { invoices: readonly Invoice[] }) {
  const { t } = useTranslation('billing/invoices');
  const format = useFormat();
  const period = usePeriod();
  const { day } = useInvoiceDays();
  const date = (value: string | null) => (value === null ? '–' : day(value));
  const columns: Column<Invoice>[] = [
    {
      key: 'number',
      title: t('columns.number'),
      heads: true,
      cell: (invoice) => (
        <>
          <Anchor component={Link} to={`/billing/invoices/${invoice.id}`} size="sm">
            {invoice.number ?? t('no_number')}
          </Anchor>
          <Text size="xs" c="dimmed">
            {t(`kinds.${invoice.kind}`)}
          </Text>
        </>
      ),
    },
    { key: 'period', title: t('columns.period'), cell: (one) => period(one.period) },
    {
      key: 'status',
      title: t('columns.status'),
      cell: (invoice) => <InvoiceStatus invoice={invoice} />,
    },
    { key: 'issued', title: t('columns.issued'), cell: ({ issued_at }) => date(issued_at) },
    { key: 'due', title: t('columns.due'), cell: ({ due_at }) => date(due_at) },
    {
      key: 'total',
      title: t('columns.total'),
      align: 'end',
      cell: ({ total, currency }) => writeAmount(format.locale, total, currency),
    },
    {
      key: 'pdf',
      title: t('columns.pdf'),
      align: 'end',
      cell: (invoice) => <DownloadPdf invoice={invoice} small />,
    },
  ];
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      rows={invoices}
      rowKey={({ id }) => id}
      minWidth={820}
    />
  );
}
