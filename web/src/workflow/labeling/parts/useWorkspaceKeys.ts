import { useTranslation } from 'react-i18next';
import { type KeyAction, useKeys } from '@/kit/keys/keys';
import { useEditor } from '../model/context';
import type { Editor } from '../model/editor';
import { countRows, topKey } from '../model/tags';
import { useView, type View } from '../page/view';

/** Moves the keyboard from the fields to the document and back. */
function switchPane(editor: Editor, view: View): void {
  const isInDocument = document.activeElement?.closest('[data-scroller], [role=document]');
  if (!isInDocument) {
    view.focus();
    return;
  }
  (document.activeElement as HTMLElement).blur();
  editor.recall();
}

/** Changes the row of the table that the keyboard is in, which its menu does for the pointer. */
function changeRow(editor: Editor, change: 'insertRow' | 'removeRow'): void {
  const { active, tags } = editor.state;
  if (!active || active.row === null) return;
  const table = topKey(active.field);
  if (active.row < countRows(tags, table)) editor[change](table, active.row);
}

/** The keys of the document and of moving between fields, on every screen with both. */
export function useWorkspaceKeys(): void {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const view = useView();
  const action = (keys: KeyAction['keys'], text: string, run: () => void, inInputs = false) => ({
    keys,
    text,
    run,
    inInputs,
  });
  const step = (...args: Parameters<typeof action>) => ({ ...action(...args), repeats: true });
  useKeys(t('keys.document'), [
    action('F2', t('keys.switch'), () => switchPane(editor, view), true),
    action(
      'mod+f',
      t('page.search'),
      () => view.set({ search: view.state.search ?? '', asText: false }),
      true,
    ),
    step('alt+PageDown', t('page.next'), () => view.goTo(view.state.page + 1), true),
    step('alt+PageUp', t('page.previous'), () => view.goTo(view.state.page - 1), true),
    step(['i', '+'], t('page.zoom_in'), () => view.zoomBy(1)),
    step(['o', '-'], t('page.zoom_out'), () => view.zoomBy(-1)),
    action('0', t('page.fit'), () => view.zoomTo(1)),
    action('r', t('page.rotate'), () => view.rotate(90)),
    action('t', t('page.thumbnails'), () => view.set({ thumbnails: !view.state.thumbnails })),
    action('x', t('page.as_text'), () => view.set({ asText: !view.state.asText })),
  ]);
  const hasRows = !editor.readOnly && editor.fields.some(({ type }) => type === 'table');
  const rows = [
    action('alt+shift+Enter', t('table.insert'), () => changeRow(editor, 'insertRow'), true),
    action('alt+Delete', t('table.remove'), () => changeRow(editor, 'removeRow'), true),
  ];
  useKeys(t('keys.fields'), [
    ...(hasRows ? rows : []),
    step('alt+ArrowDown', t('keys.next_field'), () => editor.step(1), true),
    step('alt+ArrowUp', t('keys.previous_field'), () => editor.step(-1), true),
    action('Enter', editor.readOnly ? t('keys.next_field') : t('keys.confirm'), () => {
      if (editor.state.active) editor.confirmAndAdvance();
      else editor.step(1);
    }),
    action(
      'Escape',
      t('keys.leave'),
      () => {
        if (view.state.search !== undefined) view.set({ search: undefined, found: [] });
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      },
      true,
    ),
  ]);
}
