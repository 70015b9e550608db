import { Group, Loader, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { CodeBlock } from '@/kit/components/CodeBlock';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';
import { type ExportRequest, toBody } from './request';

const QUIET_MILLISECONDS = 400;
const ROWS = 5;

/** The number of tag sets that an export would have, and the first of them as the file shows them. */
export function usePreview(request: ExportRequest) {
  const [body] = useDebouncedValue(toBody(request), QUIET_MILLISECONDS);
  return $api.useQuery(
    'post',
    '/api/v1/exports/preview',
    { body: { ...body, limit: ROWS } },
    { placeholderData: keepPreviousData, retry: false },
  );
}

export function Preview({ preview }: { preview: ReturnType<typeof usePreview> }) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  if (preview.error) return <ErrorAlert error={preview.error} />;
  const data = preview.data?.data;
  if (!data) return <Loader size="sm" type="dots" role="status" aria-label={t('preview.title')} />;
  const count = format.number(data.count);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm" role="status">
          {t(data.count_is_exact ? 'preview.count' : 'preview.at_least', {
            count: data.count,
            formatted: count,
          })}
        </Text>
        {preview.isFetching && <Loader size={14} aria-hidden />}
      </Group>
      {data.rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('preview.none')}
        </Text>
      ) : (
        <CodeBlock
          label={t(data.content === null ? 'preview.rows' : 'preview.title')}
          code={data.content ?? JSON.stringify(data.rows, null, 2)}
          maxHeight={480}
        />
      )}
    </Stack>
  );
}
