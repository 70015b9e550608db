import { Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { type CSSProperties, type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { Part } from '@/kit/components/Part';
import { FieldRow, type FieldExtras } from '../fields/FieldRow';
import fieldClasses from '../fields/Fields.module.css';
import { EditorContext, useEditor, useEditorState } from '../model/context';
import type { Editor } from '../model/editor';
import '../page/highlights.css';
import classes_ from '../page/Pages.module.css';
import { PagesPane } from '../page/PagesPane';
import { TextPane } from '../page/TextPane';
import { Thumbnails } from '../page/Thumbnails';
import { Toolbar } from '../page/Toolbar';
import { usePages } from '../page/usePages';
import { useViewState, View, ViewContext } from '../page/view';
import classes from './Parts.module.css';
import { Resizer, useFieldsWidth } from './Resizer';
import { useWorkspaceKeys } from './useWorkspaceKeys';

export interface WorkspaceProps extends FieldExtras {
  artifact: Schemas['Artifact'];
  editor: Editor;
  /** Beside the name of the document. */
  status: ReactNode;
  /** Above the fields: what has to be known before anything else. */
  notices?: ReactNode;
  /** Between notices and fields. */
  summary?: ReactNode;
  /** Below the fields: what to do with the tag set. */
  actions: ReactNode;
}

function DocumentPane({ artifact }: { artifact: Schemas['Artifact'] }) {
  const query = usePages(artifact.id);
  const asText = useViewState((state) => state.asText);
  const thumbnails = useViewState((state) => state.thumbnails);
  const count = artifact.page_count ?? query.pages.length;
  return (
    <div className={`${classes.document} ${classes_.pane}`}>
      <Toolbar pages={query.pages} count={count} />
      <div className={classes_.body}>
        {thumbnails && !asText && <Thumbnails artifactId={artifact.id} pages={query.pages} />}
        {asText ? (
          <TextPane artifactId={artifact.id} />
        ) : (
          <PagesPane artifactId={artifact.id} query={query} />
        )}
      </div>
    </div>
  );
}

function FieldsPane({
  notices,
  summary,
  actions,
  badge,
  below,
}: Omit<WorkspaceProps, 'artifact' | 'editor' | 'status'>) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const locked = useEditorState((state) => state.locked);
  return (
    <div className={classes.fields}>
      <div className={classes.notices}>{notices}</div>
      {summary !== undefined && <div className={classes.summary}>{summary}</div>}
      <div
        className={fieldClasses.list}
        data-fields
        role="form"
        aria-label={t('fields.label')}
        aria-busy={locked || undefined}
      >
        {editor.fields.map((field, position) => (
          <Part key={field.key}>
            <FieldRow field={field} position={position} badge={badge} below={below} />
          </Part>
        ))}
      </div>
      <div className={classes.footer}>{actions}</div>
    </div>
  );
}

function Screen({ artifact, status, ...rest }: Omit<WorkspaceProps, 'editor'>) {
  const [width, setWidth] = useFieldsWidth();
  useWorkspaceKeys();
  return (
    <div className={classes.screen}>
      <header className={classes.header}>
        <Title order={1} size="h6" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
          <bdi>{artifact.name}</bdi>
        </Title>
        <Group gap="sm">{status}</Group>
      </header>
      <div className={classes.panes} style={{ '--fields-width': `${width}px` } as CSSProperties}>
        <Part>
          <DocumentPane artifact={artifact} />
        </Part>
        <Resizer width={width} setWidth={setWidth} />
        <FieldsPane {...rest} />
      </div>
    </div>
  );
}

/** The screen of labeling and review: the document, and the fields beside it. */
export function Workspace({ editor, ...rest }: WorkspaceProps) {
  const { t } = useTranslation();
  const view = useMemo(() => new View(), []);
  useDocumentTitle(`${rest.artifact.name} · ${t('application')}`);
  return (
    <EditorContext value={editor}>
      <ViewContext value={view}>
        <Screen {...rest} />
      </ViewContext>
    </EditorContext>
  );
}

/** A line of dimmed text, such as the name of the schema. */
export function Note({ children }: { children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
