import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { fetchBlob } from '@/kit/api/client';
import { saveBlob } from '@/kit/api/download';
import type { Schemas } from '@/kit/api/types';
import { notifyError } from '@/kit/components/notify';

interface Props {
  invoice: Schemas['Invoice'];
  small?: boolean;
}

/** Downloads the stored file of an invoice; until it is written, there is nothing to download. */
export function DownloadPdf({ invoice, small }: Props) {
  const { t } = useTranslation('billing/invoices');
  const number = invoice.number ?? invoice.id;
  const download = useMutation({
    mutationFn: () => fetchBlob(`/api/v1/billing/invoices/${invoice.id}/pdf`),
    onSuccess: (blob) => saveBlob(blob, `${number}.pdf`),
    onError: notifyError,
  });
  if (invoice.pdf === null) return null;
  const label = t('download_of', { number });
  const run = () => download.mutate();
  if (!small)
    return (
      <Button leftSection={<Download size={16} />} loading={download.isPending} onClick={run}>
        {t('download')}
      </Button>
    );
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        loading={download.isPending}
        onClick={run}
      >
        <Download size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
