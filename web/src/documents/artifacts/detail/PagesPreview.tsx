import { AspectRatio, Button, Skeleton, Stack, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { useBlobUrl } from '@/kit/api/useBlobUrl';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useCursorList } from '@/kit/lists/useCursorList';
import { Loading } from '@/kit/components/Loading';
import { findHits } from '../highlight';
import type { Artifact } from '../useDocuments';
import { NotReadable, notReadable } from './NotReadable';
import styles from './detail.module.css';

type DocumentPage = Schemas['DocumentPage'];

interface Props {
  row: Artifact;
  phrases: readonly string[][];
}

const PAGES = 20;
const WIDTH = 1000;

/** The pages as pictures, read when they come into view, with the words of a search marked. */
export function PagesPreview({ row, phrases }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const params = { path: { artifact_id: row.id }, query: { page_size: PAGES } };
  const pages = useCursorList<DocumentPage>({
    path: '/api/v1/artifacts/{artifact_id}/pages',
    params,
    enabled: !notReadable(row),
    staleTime: Infinity,
    fetch: (cursor, signal) => {
      const query = { ...params.query, ...(cursor !== undefined && { cursor }) };
      const init = { params: { path: params.path, query }, signal };
      return unwrap(api.GET('/api/v1/artifacts/{artifact_id}/pages', init));
    },
  });
  if (notReadable(row)) return <NotReadable row={row} />;
  if (pages.error) return <ErrorAlert error={pages.error} />;
  if (pages.isPending) return <Loading />;
  return (
    <Stack gap="md">
      {pages.total === 0 && <Text c="dimmed">{t('no_pages')}</Text>}
      {pages.rows.map((page) => (
        <PagePicture key={page.number} id={row.id} page={page} phrases={phrases} />
      ))}
      {pages.hasMore && (
        <Button variant="default" loading={pages.isFetching} onClick={pages.loadMore}>
          {t('more_pages')}
        </Button>
      )}
    </Stack>
  );
}

interface PictureProps {
  id: string;
  page: DocumentPage;
  phrases: readonly string[][];
}

function PagePicture({ id, page, phrases }: PictureProps) {
  const { t } = useTranslation('documents/artifacts');
  const { ref, entry } = useIntersection({ rootMargin: '600px' });
  const [seen, setSeen] = useState(false);
  if (entry?.isIntersecting && !seen) setSeen(true);
  const path = `/api/v1/artifacts/${id}/pages/${page.number}/image?width=${WIDTH}&format=webp`;
  const { url, error } = useBlobUrl(seen ? path : undefined);
  return (
    <figure ref={ref} className={styles.page}>
      <AspectRatio ratio={page.width / page.height}>
        {url === undefined ? (
          <Skeleton animate={false} />
        ) : (
          <img src={url} alt={t('page', { number: page.number })} />
        )}
      </AspectRatio>
      <Marks page={page} phrases={phrases} />
      <ErrorAlert error={error} />
      <figcaption className={styles.caption}>{t('page', { number: page.number })}</figcaption>
    </figure>
  );
}

/** Returns the boxes of words that a search finds. */
export function findBoxes(page: DocumentPage, phrases: readonly string[][]): number[][] {
  const starts: number[] = [];
  let text = '';
  const words = page.words ?? [];
  for (const word of words) {
    starts.push(text.length);
    text += `${word.text} `;
  }
  const hits = findHits(text, phrases);
  return words
    .filter((word, index) => {
      const start = starts[index] ?? 0;
      const end = start + word.text.length;
      return hits.some((hit) => hit.start < end && hit.end > start);
    })
    .map((word) => word.box);
}

function Marks({ page, phrases }: Omit<PictureProps, 'id'>) {
  const boxes = useMemo(() => findBoxes(page, phrases), [page, phrases]);
  const percent = (share: number) => `${share * 100}%`;
  const ratio = { aspectRatio: `${page.width} / ${page.height}` };
  return (
    <div className={styles.marks} style={ratio} aria-hidden>
      {boxes.map(([x0 = 0, y0 = 0, x1 = 0, y1 = 0], index) => (
        <div
          key={index}
          className={styles.mark}
          style={{
            left: percent(x0),
            top: percent(y0),
            width: percent(x1 - x0),
            height: percent(y1 - y0),
          }}
        />
      ))}
    </div>
  );
}
