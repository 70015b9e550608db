import { useLocalStorage } from '@mantine/hooks';
import type { KeyboardEvent, PointerEvent } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Parts.module.css';

const LEAST = 300;
const MOST = 900;
const STEP = 24;

const clamp = (width: number) => Math.min(MOST, Math.max(LEAST, Math.round(width)));

export function useFieldsWidth() {
  // Read at once: another width in the second render would lay out all pages again.
  return useLocalStorage({
    key: 'label-fields-width',
    defaultValue: 420,
    getInitialValueInEffect: false,
  });
}

/** The line between document and fields, which is dragged or moved with arrow keys. */
export function Resizer({ width, setWidth }: { width: number; setWidth: (width: number) => void }) {
  const { t } = useTranslation('workflow/labeling');
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const frame = event.currentTarget.parentElement?.getBoundingClientRect();
    if (frame) setWidth(clamp(frame.right - event.clientX));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') setWidth(clamp(width + STEP));
    if (event.key === 'ArrowRight') setWidth(clamp(width - STEP));
  };
  return (
    // A separator that can be moved is a widget (ARIA 1.2).
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={t('fields.width')}
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      className={classes.handle}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  );
}
