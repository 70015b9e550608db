import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { UserPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '@/kit/components/Page';
import { PageTabs } from '@/kit/components/PageTabs';
import { useKeys } from '@/kit/keys/keys';
import { useMay } from '@/kit/session/may';
import { InviteDialog } from './InviteDialog';

interface Props {
  title: string;
  description: string;
  children: ReactNode;
}

/** The frame of the members and the invitations, with the way to invite. */
export function PeoplePage({ title, description, children }: Props) {
  const { t } = useTranslation('identity/invitations');
  const mayInvite = useMay()('invitations:manage');
  const [opened, { open, close }] = useDisclosure(false);
  useKeys(title, [{ keys: 'i', text: t('invite.title'), run: open, disabled: !mayInvite }]);
  return (
    <Page
      title={title}
      description={description}
      actions={
        mayInvite && (
          <Button leftSection={<UserPlus size={16} />} onClick={open}>
            {t('invite.action')}
          </Button>
        )
      }
    >
      {mayInvite && (
        <PageTabs
          label={t('tabs.label')}
          tabs={[
            { to: '/members', title: t('tabs.members') },
            { to: '/members/invitations', title: t('tabs.invitations') },
          ]}
        />
      )}
      {children}
      {opened && <InviteDialog onClose={close} />}
    </Page>
  );
}
