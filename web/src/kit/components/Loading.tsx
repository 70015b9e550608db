import { Center, Loader } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export function Loading() {
  const { t } = useTranslation();
  return (
    <Center p="xl" role="status" aria-label={t('loading')}>
      <Loader size="sm" type="dots" />
    </Center>
  );
}
