import { SimpleGrid, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '@/kit/components/Page';
import { useMay } from '@/kit/session/may';
import { AssignmentTable } from './AssignmentTable';
import { NextDocument } from './NextDocument';
import { NextReview } from './NextReview';
import { SentBack } from './SentBack';
import { Today } from './Today';

/** What to do now: the next document or review, and all that waits for the caller. */
export function HomePage() {
  const { t } = useTranslation('workflow/home');
  const may = useMay();
  return (
    <Page title={t('title')}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
        {may('artifacts:claim') && <NextDocument />}
        {may('review_queue:work') && <NextReview />}
        <Today />
      </SimpleGrid>
      {may('tag_sets:write') && (
        <Stack gap="lg" mt="sm">
          <SentBack />
          <AssignmentTable />
        </Stack>
      )}
    </Page>
  );
}
