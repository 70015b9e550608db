import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/kit/api/client';
import { downloadFile } from '@/kit/api/download';
import { notifyError } from '@/kit/components/notify';
import { useMay } from '@/kit/session/may';

interface Props {
  jobId: string;
  /** Null if there is no file. */
  path: string | null;
  size?: 'sm' | 'compact-sm';
  primary?: boolean;
}

/** Downloads the file of an export under the name in its manifest. */
export function DownloadButton({ jobId, path, size = 'sm', primary = false }: Props) {
  const { t } = useTranslation('delivery/exports');
  const may = useMay();
  const download = useMutation({
    mutationFn: async (file: string) => {
      const { data } = await unwrap(
        api.GET('/api/v1/exports/{job_id}/manifest', {
          params: { path: { job_id: jobId } },
        }),
      );
      await downloadFile(file, data.file.name);
    },
    onError: notifyError,
  });
  if (path === null || !may('exports:download')) return null;
  return (
    <Button
      size={size}
      variant={primary ? 'filled' : 'default'}
      leftSection={<Download size={14} />}
      loading={download.isPending}
      onClick={() => download.mutate(path)}
    >
      {t('download')}
    </Button>
  );
}
