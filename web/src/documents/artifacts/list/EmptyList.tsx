import { Button, Center, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/kit/session/may';
import { countFilters, type DocumentSearch } from '../search';

interface Props {
  search: DocumentSearch;
  clear: () => void;
  upload: () => void;
}

export function EmptyList({ search, clear, upload }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const may = useMay();
  const filtered = countFilters(search) > 0;
  return (
    <Center p="xl">
      <Stack align="center" gap="xs" role="status">
        <Text fw={600}>{filtered ? t('empty.filtered') : t('empty.title')}</Text>
        {filtered && <Button onClick={clear}>{t('filters.clear')}</Button>}
        {!filtered && may('artifacts:create') && (
          <>
            <Text c="dimmed" size="sm" ta="center">
              {t('empty.text')}
            </Text>
            <Button onClick={upload}>{t('upload.open')}</Button>
          </>
        )}
      </Stack>
    </Center>
  );
}
