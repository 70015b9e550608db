import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { notifyDone } from '@/kit/components/notify';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { useMay } from '@/kit/session/may';
import { useSchemaName } from '@/schemas/artifact_schemas';
import { isShare, nameEffect } from './effect';

type Report = Schemas['DriftReport'];

const TONES = { open: 'warning', acknowledged: 'neutral', closed: 'neutral' } as const;

function useColumns(onAcknowledge: (report: Report) => void): Column<Report>[] {
  const { t } = useTranslation('insight/drift');
  const format = useFormat();
  const mayManage = useMay()('drift:manage');
  const columns: Column<Report>[] = [
    {
      key: 'what',
      title: t('columns.what'),
      heads: true,
      cell: (report) => <What report={report} />,
    },
    {
      key: 'before',
      title: t('columns.before'),
      align: 'end',
      cell: (report) => <Sample report={report} sample={report.baseline} />,
    },
    {
      key: 'after',
      title: t('columns.after'),
      align: 'end',
      cell: (report) => <Sample report={report} sample={report.current} />,
    },
    {
      key: 'effect',
      title: t('columns.effect'),
      align: 'end',
      cell: ({ effect }) =>
        `${format.number(effect, { maximumFractionDigits: 2 })} (${t(nameEffect(effect))})`,
    },
    {
      key: 'found',
      title: t('columns.found'),
      cell: ({ created_at }) => format.date(created_at),
    },
    {
      key: 'status',
      title: t('columns.status'),
      cell: ({ status }) => <StatusBadge tone={TONES[status]}>{t(`status.${status}`)}</StatusBadge>,
    },
  ];
  if (!mayManage) return columns;
  return [
    ...columns,
    {
      key: 'actions',
      title: t('columns.actions'),
      align: 'end',
      cell: (report) => <AskButton report={report} onAsk={onAcknowledge} />,
    },
  ];
}

export function DriftTable({ reports }: { reports: readonly Report[] }) {
  const { t } = useTranslation('insight/drift');
  const [asked, setAsked] = useState<Report>();
  const columns = useColumns(setAsked);
  return (
    <>
      <DataTable
        label={t('title')}
        columns={columns}
        rows={reports}
        rowKey={({ id }) => id}
        minWidth={860}
      />
      {asked && <Acknowledge report={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface AskProps {
  report: Report;
  onAsk: (report: Report) => void;
}

function AskButton({ report, onAsk }: AskProps) {
  const { t } = useTranslation('insight/drift');
  if (report.status !== 'open') return null;
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      aria-label={t('acknowledge.label', {
        what: report.field ?? t(`metrics.${report.metric}`),
      })}
      onClick={() => onAsk(report)}
    >
      {t('acknowledge.action')}
    </Button>
  );
}

function What({ report }: { report: Report }) {
  const { t } = useTranslation('insight/drift');
  const nameSchema = useSchemaName();
  const parts = [
    t(`subjects.${report.subject}`),
    nameSchema(report.schema_id),
    report.category !== null && t('category', { category: report.category }),
    report.labeler_id !== null && t('labeler'),
  ];
  return (
    <>
      <Text size="sm" fw={500} dir="auto" ta="start">
        {[t(`metrics.${report.metric}`), report.field].filter(Boolean).join(': ')}
      </Text>
      <Text size="xs" c="dimmed" dir="auto" ta="start">
        {parts.filter((part) => part !== false).join(' · ')}
      </Text>
      {report.warnings.map((warning) => (
        <Text key={warning} size="xs" c="dimmed">
          {warning}
        </Text>
      ))}
    </>
  );
}

function Sample({ report, sample }: { report: Report; sample: Report['baseline'] }) {
  const { t } = useTranslation('insight/drift');
  const format = useFormat();
  const value = isShare(report.metric, report.category)
    ? format.percent(sample.value, 1)
    : format.number(sample.value, { maximumFractionDigits: 2 });
  return (
    <>
      <Text size="sm">{value}</Text>
      <Text size="xs" c="dimmed">
        {t('cases', { formatted: format.number(sample.n) })}
      </Text>
    </>
  );
}

function Acknowledge({ report, onClose }: { report: Report; onClose: () => void }) {
  const { t } = useTranslation('insight/drift');
  const acknowledge = $api.useMutation('post', '/api/v1/quality/drift/{report_id}/acknowledge');
  const confirm = () =>
    acknowledge.mutate(
      { params: { path: { report_id: report.id } } },
      {
        onSuccess: () => {
          notifyDone(t('acknowledge.done'));
          void queryClient.invalidateQueries({
            queryKey: ['get', '/api/v1/quality/drift'],
          });
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={t('acknowledge.title')}
      action={t('acknowledge.action')}

      onClose={onClose}
      onConfirm={confirm}
      loading={acknowledge.isPending}
      error={acknowledge.error}
    >
      {t('acknowledge.text')}
    </ConfirmDialog>
  );
}
