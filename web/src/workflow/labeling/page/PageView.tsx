import { Center, Loader } from '@mantine/core';
import { memo, useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useBlobUrl } from '@/kit/api/useBlobUrl';
import type { WordCursor } from './cursor';
import { imageWidth, type Rotation, type Size } from './geometry';
import { imagePath } from './pagesQuery';
import classes from './Pages.module.css';
import { useOverlay } from './useOverlay';
import { usePointing } from './usePointing';
import type { DocumentPage } from './usePages';

interface Props {
  artifactId: string;
  page: DocumentPage;
  /** The size of the page before it is turned, in pixels of the screen. */
  size: Size;
  rotation: Rotation;
  cursor: WordCursor;
}

/** Whether the element is on the screen or near it; `initial` until that is known. */
function useNearby(initial: boolean): [(element: HTMLElement | null) => void, boolean] {
  const [isNear, setNear] = useState(initial);
  const observer = useRef<IntersectionObserver>(undefined);
  const watch = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (!element) return;
    observer.current = new IntersectionObserver(
      (entries) => setNear(entries.some((entry) => entry.isIntersecting)),
      { root: element.closest('[data-scroller]'), rootMargin: '60%' },
    );
    observer.current.observe(element);
  }, []);
  return [watch, isNear];
}

function PageImage({
  artifactId,
  page,
  width,
}: {
  artifactId: string;
  page: number;
  width: number;
}) {
  const { t } = useTranslation('workflow/labeling');
  const pixels = imageWidth(width * Math.min(window.devicePixelRatio, 2));
  const { url, error } = useBlobUrl(imagePath(artifactId, page, pixels));
  const [last, setLast] = useState<string>();
  const shown = url ?? last;
  if (error && !shown) return <Center h="100%">{t('page.no_image')}</Center>;
  if (shown === undefined)
    return (
      <Center h="100%">
        <Loader size="sm" type="dots" role="status" aria-label={t('page.loading')} />
      </Center>
    );
  return (
    <img
      src={shown}
      alt={t('page.alt', { page })}
      className={classes.image}
      draggable={false}
      onLoad={() => setLast(url)}
    />
  );
}

/** One page: its image, and over it the marks and what the pointer chooses. */
export const PageView = memo(function PageView({
  artifactId,
  page,
  size,
  rotation,
  cursor,
}: Props) {
  const [watch, isNear] = useNearby(page.number === 1);
  const { attachCanvas, pointer } = useOverlay(page, size, isNear, cursor);
  const handlers = usePointing(pointer, rotation);
  const isTurned = rotation % 180 !== 0;
  return (
    <div
      ref={watch}
      data-page={page.number}
      className={classes.page}
      style={{
        width: isTurned ? size.height : size.width,
        height: isTurned ? size.width : size.height,
      }}
      {...handlers}
    >
      <div
        className={classes.turned}
        style={{
          width: size.width,
          height: size.height,
          transform: `translate(-50%, -50%) rotate(${rotation}deg)`,
        }}
      >
        {isNear && (
          <>
            <PageImage artifactId={artifactId} page={page.number} width={size.width} />
            <canvas
              ref={attachCanvas}
              className={classes.canvas}
              width={0}
              height={0}
              aria-hidden
            />
          </>
        )}
      </div>
    </div>
  );
});
