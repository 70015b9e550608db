import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import {
  ChevronDown,
  ChevronUp,
  FileText,
  Images,
  MoveHorizontal,
  RotateCw,
  Search,
  type LucideIcon,
  ZoomIn,
  ZoomOut,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import classes from './Pages.module.css';
import { SearchBox } from './SearchBox';
import type { DocumentPage } from './usePages';
import { useView, useViewState } from './view';

interface ToolProps {
  icon: LucideIcon;
  label: string;
  run: () => void;
  pressed?: boolean;
  disabled?: boolean;
}

function Tool({ icon: Icon, label, run, pressed, disabled = false }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={pressed ? 'light' : 'subtle'}
        color={pressed ? 'blue' : 'gray'}
        c={pressed ? undefined : 'var(--mantine-color-text)'}
        aria-label={label}
        aria-pressed={pressed}
        disabled={disabled}
        onClick={run}
      >
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function PageTools({ count }: { count: number }) {
  const { t } = useTranslation('workflow/labeling');
  const view = useView();
  const page = useViewState((state) => state.page);
  return (
    <>
      <Tool
        icon={ChevronUp}
        label={t('page.previous')}
        disabled={page <= 1}
        run={() => view.goTo(page - 1)}
      />
      <Tool
        icon={ChevronDown}
        label={t('page.next')}
        disabled={page >= count}
        run={() => view.goTo(page + 1)}
      />
      <Text size="xs" c="dimmed" px={4} style={{ whiteSpace: 'nowrap' }}>
        {t('page.position', { page, count })}
      </Text>
    </>
  );
}

function ZoomTools() {
  const { t } = useTranslation('workflow/labeling');
  const view = useView();
  const zoom = useViewState((state) => state.zoom);
  return (
    <>
      <Tool icon={ZoomOut} label={t('page.zoom_out')} run={() => view.zoomBy(-1)} />
      <Text size="xs" c="dimmed" w={40} ta="center">
        {t('page.zoom', { percent: Math.round(zoom * 100) })}
      </Text>
      <Tool icon={ZoomIn} label={t('page.zoom_in')} run={() => view.zoomBy(1)} />
      <Tool icon={MoveHorizontal} label={t('page.fit')} run={() => view.zoomTo(1)} />
      <Tool icon={RotateCw} label={t('page.rotate')} run={() => view.rotate(90)} />
    </>
  );
}

/** What can be done with the view of the document. */
export function Toolbar({ pages, count }: { pages: readonly DocumentPage[]; count: number }) {
  const { t } = useTranslation('workflow/labeling');
  const view = useView();
  const asText = useViewState((state) => state.asText);
  const thumbnails = useViewState((state) => state.thumbnails);
  const search = useViewState((state) => state.search);
  return (
    <div className={classes.toolbar} role="toolbar" aria-label={t('page.tools')}>
      {!asText && (
        <>
          <Tool
            icon={Images}
            label={t('page.thumbnails')}
            pressed={thumbnails}
            run={() => view.set({ thumbnails: !thumbnails })}
          />
          <PageTools count={count} />
          <ZoomTools />
        </>
      )}
      <Group ml="auto" gap={2} wrap="nowrap">
        {search !== undefined && !asText && <SearchBox pages={pages} />}
        {!asText && (
          <Tool
            icon={Search}
            label={t('page.search')}
            pressed={search !== undefined}
            run={() => view.set({ search: search === undefined ? '' : undefined, found: [] })}
          />
        )}
        <Tool
          icon={FileText}
          label={t('page.as_text')}
          pressed={asText}
          run={() => view.set({ asText: !asText })}
        />
      </Group>
    </div>
  );
}
