import { Button, Group, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { MouseEvent } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '@/kit/api/errors';
import { Notice } from '@/kit/components/Notice';
import type { Edited } from './edited';

interface Props {
  keep: (event: MouseEvent<HTMLButtonElement>) => void;
  drop: () => void;
}

/** Says that somebody else has changed the record, and asks whose changes stay. */
export function StaleNotice({ keep, drop }: Props) {
  const { t } = useTranslation();
  return (
    <Notice color="yellow" role="alert" icon={<TriangleAlert size={18} />} title={t('stale.title')}>
      <Text size="sm">{t('stale.text')}</Text>
      <Group mt="xs">
        <Button size="compact-sm" onClick={keep}>
          {t('stale.mine')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={drop}>
          {t('stale.theirs')}
        </Button>
      </Group>
    </Notice>
  );
}

/** The same for the form around it, until one of both is chosen. */
export function StaleForm({ error, edited }: { error: ApiError; edited: Edited }) {
  // Two saves at the same instant do not tell the revision.
  const current = Number(error.details['current_revision'] ?? edited.revision + 1);
  if (current <= edited.revision) return null;
  const keep = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) => {
    // The form sends the revision that it shows.
    flushSync(() => edited.keep(current));
    form?.requestSubmit();
  };
  return <StaleNotice keep={keep} drop={edited.drop} />;
}
