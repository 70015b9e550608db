import { useTranslation } from 'react-i18next';
import type { Status } from './search';
import styles from './status.module.css';

/** The status of a document as a word with a sign: color is never the only difference. */
export function StatusBadge({ status }: { status: Status }) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <span className={styles.status} data-status={status}>
      {t(`status.${status}`)}
    </span>
  );
}
