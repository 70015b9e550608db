import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Navigate, Outlet, useRouter } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Loading } from '@/kit/components/Loading';
import { Logo } from '@/kit/components/Logo';
import { Part } from '@/kit/components/Part';
import { DiscardDialog } from '@/kit/forms/DiscardDialog';
import { useSession } from '@/kit/session/store';
import { useCurrentRoles } from '@/kit/session/useCurrentRoles';
import { ColorSchemeButton } from './ColorSchemeButton';
import { LanguageMenu } from './LanguageMenu';
import { Navigation } from './Navigation';
import { shellParts } from './navigation';
import { OrganizationMenu } from './OrganizationMenu';
import { useIsFullWidth, useOrganization } from './room';
import { UserMenu } from './UserMenu';

/**
 * The frame of all pages inside an organization; another tab may have ended the session. Nothing that
 * was shown for one organization stays for the next.
 */
export function Shell() {
  const organization = useOrganization();
  return useSession() ? <Frame key={organization} /> : <SignedOut />;
}

function SignedOut() {
  const router = useRouter();
  // That of the page where the session ended, not of the sign-in page on the way there.
  const [next] = useState(() => router.state.resolvedLocation?.publicHref ?? '/');
  return <Navigate to="/sign-in" search={{ next }} />;
}

function Side({ close }: { close: () => void }) {
  const { t } = useTranslation();
  return (
    <AppShell.Navbar p="xs" aria-label={t('shell.navigation')}>
      <AppShell.Section grow style={{ overflowY: 'auto' }}>
        <Navigation close={close} />
      </AppShell.Section>
      <Group hiddenFrom="sm" justify="space-between">
        <LanguageMenu />
        <ColorSchemeButton />
      </Group>
    </AppShell.Navbar>
  );
}

function Frame() {
  useCurrentRoles();
  const { t } = useTranslation();
  const [opened, { toggle, close }] = useDisclosure(false);
  const isFull = useIsFullWidth();
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{
        width: 220,
        breakpoint: 'sm',
        collapsed: { mobile: !opened, desktop: isFull && !opened },
      }}
      padding={0}
      transitionDuration={0}
    >
      <a href="#content" className="skip-link">
        {t('shell.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom={isFull ? undefined : 'sm'}
              size="sm"
              aria-label={t('shell.menu')}
              aria-expanded={opened}
            />
            <Logo />
            <OrganizationMenu />
          </Group>
          <Group gap={4} wrap="nowrap">
            {shellParts().header.map((HeaderPart, index) => (
              <Part key={index}>
                <HeaderPart />
              </Part>
            ))}
            <Group gap={4} wrap="nowrap" visibleFrom="sm">
              <LanguageMenu />
              <ColorSchemeButton />
            </Group>
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      {(opened || !isFull) && <Side close={close} />}
      <AppShell.Main id="content" tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <DiscardDialog />
    </AppShell>
  );
}
