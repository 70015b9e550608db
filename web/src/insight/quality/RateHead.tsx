import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type texts from './texts.en.json';

/** The name of a rate, with what it means. */
export function RateHead({ name }: { name: keyof typeof texts.rates }) {
  const { t } = useTranslation('insight/quality');
  return (
    <Tooltip label={t(`help.${name}`)} events={{ hover: true, focus: true, touch: true }}>
      <span
        // What the tooltip says has to be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        style={{ textDecoration: 'underline dotted', textUnderlineOffset: 3 }}
      >
        {t(`rates.${name}`)}
      </span>
    </Tooltip>
  );
}
