import { Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useBlobUrl } from '@/kit/api/useBlobUrl';
import { imagePath } from './pagesQuery';
import classes from './Pages.module.css';
import type { DocumentPage } from './usePages';
import { useView, useViewState } from './view';

const WIDTH = 200;

function Thumbnail({
  artifactId,
  page,
  isCurrent,
}: {
  artifactId: string;
  page: DocumentPage;
  isCurrent: boolean;
}) {
  const { t } = useTranslation('workflow/labeling');
  const view = useView();
  const { ref, entry } = useIntersection<HTMLButtonElement>({ rootMargin: '50%' });
  const path = imagePath(artifactId, page.number, WIDTH);
  const { url } = useBlobUrl(entry?.isIntersecting ? path : undefined);
  return (
    <UnstyledButton
      ref={ref}
      className={classes.thumbnail}
      aria-current={isCurrent}
      aria-label={t('page.go_to', { page: page.number })}
      onClick={() => view.goTo(page.number)}
    >
      {url === undefined ? (
        <Skeleton h={(92 * page.height) / page.width} animate={false} />
      ) : (
        <img src={url} alt="" />
      )}
      <Text size="xs" mt={2}>
        {page.number}
      </Text>
    </UnstyledButton>
  );
}

export function Thumbnails({
  artifactId,
  pages,
}: {
  artifactId: string;
  pages: readonly DocumentPage[];
}) {
  const { t } = useTranslation('workflow/labeling');
  const current = useViewState((state) => state.page);
  return (
    <nav className={classes.thumbnails} aria-label={t('page.thumbnails')}>
      {pages.map((page) => (
        <Thumbnail
          key={page.number}
          artifactId={artifactId}
          page={page}
          isCurrent={page.number === current}
        />
      ))}
    </nav>
  );
}
