import { type RefObject, useEffect } from 'react';
import { useEditor, useEditorState } from '../model/context';
import { isSameSlot, type Slot } from '../model/tags';

/** Only from inputs of the fields, or from nowhere, the focus is moved to another input. */
function mayMoveFocus(): boolean {
  const { activeElement } = document;
  return (
    !activeElement ||
    activeElement === document.body ||
    activeElement.closest('[data-fields]') !== null
  );
}

/** Ties an input to its slot: the active slot has the focus, and what has the focus is active. */
export function useSlotFocus(slot: Slot, element: RefObject<HTMLElement | null>) {
  const editor = useEditor();
  const isActive = useEditorState((state) => isSameSlot(state.active, slot));
  const calls = useEditorState((state) => (isSameSlot(state.active, slot) ? state.calls : 0));
  useEffect(() => {
    if (!isActive || !mayMoveFocus()) return;
    const target = element.current;
    if (target && !target.contains(document.activeElement)) target.focus();
    target?.scrollIntoView({ block: 'nearest' });
  }, [isActive, calls, element]);
  // Whoever looks into another window comes back to the same input.
  const onBlur = () => {
    if (document.activeElement !== element.current) editor.settle(slot);
  };
  return { isActive, onFocus: () => editor.focus(slot), onBlur };
}
