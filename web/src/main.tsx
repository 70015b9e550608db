import './kit/theme/styles.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './kit/api/queryClient';
import { styleNonce } from './kit/environment';
import { initTexts } from './kit/i18n/i18n';
import { restoreSession } from './kit/session/store';
import { cssVariables, theme } from './kit/theme/theme';
import { installPolicy } from './kit/trustedTypes';
import { type AppRouter, createAppRouter } from './routes';

// After an upgrade of the service, the files of the old build are gone.
const RELOADED = 'reloaded_at';
const RELOAD_MILLISECONDS = 60_000;
async function reloadAfterUpgrade(): Promise<void> {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (Date.now() - last < RELOAD_MILLISECONDS) return;
  // Without a network nothing could be loaded again: what is shown has to stay.
  const answer = await fetch(window.location.href, { method: 'HEAD', cache: 'no-store' });
  if (!answer.ok) return;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  window.location.reload();
}
window.addEventListener('vite:preloadError', () => {
  reloadAfterUpgrade().catch(() => undefined);
});

/** Begins to load the code of the page, without waiting for texts and session. */
function loadCode(router: AppRouter): void {
  const [matchedRoutes] = router.getMatchedRoutes(router.latestLocation.pathname);
  for (const route of matchedRoutes)
    // What fails here fails again, and is shown, when the page is opened.
    router.loadRouteChunk(route)?.catch(() => undefined);
}

async function start(): Promise<void> {
  installPolicy();
  setNonce(styleNonce);
  const ready = Promise.all([initTexts(), restoreSession()]);
  const router = createAppRouter();
  loadCode(router);
  await ready;
  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no element for the application.');
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={() => styleNonce}
      >
        <QueryClientProvider client={queryClient}>
          <Notifications position="bottom-right" />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

void start();
